def test_the_export_needs_no_server(browser, folders, tmp_path):
    out = tmp_path / "page.html"
    write_page(folders[1:], out, words=["tax", "law", "freedom"], n=3)
    opened = Visit(browser, out.as_uri(), viewport={"width": 1000, "height": 800}, offline=True)
    for view in ("neighbors", "compare", "axis", "time", "map", "trust"):
        opened.go(f"#/{view}")
        assert opened.page.get_by_role("alert").count() == 0, view
    opened.go("#/neighbors?word=law")
    assert opened.rows() == open_posterior(folders[1]).neighbors("law", 3, at="2010").texts()
    opened.page.get_by_role("combobox", name="Word").fill("army")
    opened.page.keyboard.press("Enter")
    opened.page.get_by_role("alert").wait_for()
    assert "holds the answers about: tax, law, freedom" in opened.text()
    opened.context.close()
    assert not opened.errors
    assert not [url for url in opened.requests if not url.startswith(("file:", "data:", "blob:"))]


