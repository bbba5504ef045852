// Colours of the pictures. Series differ in dashes and markers too, so that they survive grey.

const LIGHT = {
  paper: "#ffffff", ink: "#22242a", muted: "#5d626b", line: "#e3e0d8", strong: "#0b5d8a", soft: "#9cc3da",
  warn: "#b03a00", series: ["#0072B2", "#C24E00", "#00795A", "#A8467F", "#8A6100", "#2B7FB0", "#22242a"],
};
const DARK = {
  paper: "#1b1e23", ink: "#e9e7e2", muted: "#a9aeb7", line: "#343941", strong: "#6cb8e6", soft: "#2f5f7c",
  warn: "#ff9a5c", series: ["#6cb8e6", "#ff9a5c", "#4fd1a5", "#eba0cd", "#e8bd55", "#9ad4f5", "#e9e7e2"],
};
export const DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "4 2 1 2", "12 4"];
export const FONT = 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif';

const dark = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

export function palette(onPaper = false) {
  return onPaper || printing || !dark.matches ? LIGHT : DARK;
}

export function onThemeChange(callback) {
  dark.addEventListener("change", callback);
  addEventListener("beforeprint", () => { printing = true; callback(); });
  addEventListener("afterprint", () => { printing = false; callback(); });
}
