"""Short lists of stopwords for the languages of the Snowball stemmers.

Articles, pronouns, prepositions, conjunctions and auxiliary verbs, written for this package; nothing that carries a
topic. They are short on purpose. Where stopwords matter to the result, keep a list of your own with the study.
"""

# by language; words are separated by white space, lower-case, in Unicode's composed form (NFC)
STOPWORDS = {
    "arabic": """
        في من على إلى عن مع هذا هذه ذلك تلك هؤلاء التي الذي الذين اللتي ما ماذا لا لم لن ليس ليست كان كانت
        يكون تكون هو هي هم هن نحن أنا أنت أنتم أن إن أو و ثم قد كما كل بعض بين بعد قبل عند عندما حتى إذا لكن
        أي كيف أين متى منذ لدى له لها لهم به بها بهم فيه فيها منه منها عليه عليها إليه غير سوى هناك هنا أيضا
        إلا أما بل
    """,
    "armenian": """
        և ու կամ բայց որ որը որոնք թե եթե երբ որպես ինչպես նաև ես դու նա մենք դուք նրանք իմ քո նրա մեր ձեր
        նրանց այս այդ այն սա դա եմ է ենք եք են էի էիր էր էինք էիք էին մեջ վրա համար հետ մոտ առանց չէ չի ոչ
        ամեն բոլոր
    """,
    "basque": """
        eta edo baina ez bai da dira naiz zara gara zarete zen ziren du dute dut dugu zuen zuten den diren
        izan ukan hau hori hura hauek horiek haiek ni zu gu zuek nik zuk guk bat batzuk ere bere beren zer
        nor non noiz nola oso guztiak guzti baino bezala arte gabe ondoren arabera dela dituzte dio
    """,
    "catalan": """
        a al als amb aquell aquella aquells aquelles aquest aquesta aquests aquestes com de del dels des el
        els ell ella elles ells en entre era eren es et fins ha han havia hem hi ho i jo la les li llur lo
        m'ha me mi més meu meva molt ni no nosaltres o on per perquè però quan que què qui s se sense ser
        seu seva seus seves si sobre són sóc som també te tu un una unes uns us va van vosaltres
    """,
    "czech": """
        a aby ale ani ano asi až bez být by byl byla byli bylo byly bude budou co což či do ho i já jak jako
        je jeho jej její jejich jen ještě již jsem jsi jsme jsou jste k kam kde kdo kdy když ke která které
        který kteří ku li má mají mezi mi mít mě mu my na nad nám nás ne než ni nebo není o od on ona oni
        ono pak po pod podle pokud pro proto protože před při s se si sice své svůj ta tak také takže tam te
        ten tento této tím to toho tom tomu tu ty u už v vám vás ve však vy z za ze že
    """,
    "danish": """
        ad af alle alt at blev blive bliver da de dem den denne der deres det dette dig din disse du efter
        eller en er et for fra ham han hans har havde have hende hendes her hos hun hvad hvis hvor i ikke
        ind jeg jer jo kunne man mange med men mig min mit mod ned noget nogle nu når og også om op os over
        på selv sig sin sine skal skulle som til ud under var vi vil ville vor være været
    """,
    "dutch": """
        aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er
        ge geen had heb hebben heeft hem het hier hij hoe hun iets ik in is ja je kan kon kunnen maar me
        meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te
        tegen toch toen tot u uit uw van veel voor want waren was wat we wel werd wezen wie wij wil worden
        zal ze zelf zich zij zijn zo zonder zou
    """,
    "english": """
        a about above after again against all am an and any are aren't as at be because been before being
        below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't
        down during each few for from further had hadn't has hasn't have haven't having he he'd he'll he's
        her here hers herself him himself his how i i'd i'll i'm i've if in into is isn't it it's its itself
        just me more most my myself no nor not of off on once only or other our ours ourselves out over own
        same she she'd she'll she's should shouldn't so some such than that that's the their theirs them
        themselves then there there's these they they'd they'll they're they've this those through to too
        under until up very was wasn't we we'd we'll we're we've were weren't what when where which while
        who whom why will with won't would wouldn't you you'd you'll you're you've your yours yourself
        yourselves
    """,
    "esperanto": """
        al ankaŭ aŭ ĉe ĉi ĉiu ĉu da de do dum el en estas esti estis estos ĝi ĝis ĝia ili ilia ja jam je jes
        kaj ke kia kiam kie kiel kio kion kiu kiuj kun la li lia mi mia ne nek ni nia nun nur ol oni per
        plej pli plu por post pri pro se sed sen ses si sia sub super sur ŝi ŝia tamen tia tial tie tio tion
        tiu tiuj tra tre tro tute unu vi via
    """,
    "estonian": """
        aga ei ega et ehk ja juba jah kas keda kelle kes kogu koos kui kuid kuna kus ma mida mille millal
        mina mis me meie minu mitte mu muu ning nad need neid neil nende nii nüüd oma on oli olid olla olen
        oled oleme oleks pole pärast sa see seda selle sellest siin siis sina sinu sest ta tema tuli te teie
        tõttu vaid veel või võib välja üle üks
    """,
    "finnish": """
        ei eikä en eivät emme että he heidän hän hänen hänet ja jo jos joka jonka joita jotka jossa jota
        joten kanssa kuin kun kuka koska me meidän meille minun minä mikä mitä mutta mukaan myös ne nämä
        niin niitä niiden no noin nyt ole oli olin olivat olla olen olet olemme olette olisi on ovat se sekä
        sen siihen siinä sitä sinä sinun tai tämä tämän tässä tätä te teidän tuo vaan vaikka vain vai vielä
        yli
    """,
    "french": """
        à ai aie alors as au aucun aussi autre aux avait avaient avec avez avoir avons c ça car ce ceci cela
        celle celles celui ces cet cette ceux chaque comme d dans de des donc dont du elle elles en encore
        entre es est et étaient était étant été être eu eux fait fut ici il ils j je l la là le les leur
        leurs lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas peu plus
        pour pourquoi qu quand que quel quelle quels qui quoi s sa sans se sera ses si soit son sont sous
        suis sur t ta te tes toi ton tous tout toute toutes très tu un une vos votre vous y
    """,
    "german": """
        aber alle allem allen aller alles als also am an andere anderen auch auf aus bei bin bis bist da
        damit dann das dass daß dein deine dem den denn der des dessen die dies diese diesem diesen dieser
        dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen hab
        habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem
        ins ist ja jede jedem jeden jeder jedes jene jener jetzt kann kein keine keinem keinen keiner können
        könnte machen man manche mein meine mich mir mit muss musste nach nicht nichts noch nun nur ob oder
        ohne sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte sondern sonst
        über um und uns unser unsere unter viel vom von vor während war waren was weil welche welcher wenn
        werde werden wie wieder will wir wird wirst wo wollen wurde wurden würde würden zu zum zur zwar
        zwischen
    """,
    "greek": """
        ο η το οι τα του της των τον την τους τις και κι ή αλλά αν να θα δεν δε μη μην με σε για από στο στη
        στην στον στους στις στα προς κατά μετά πριν παρά αντί χωρίς ως σαν που πως πώς ότι όταν όπως όπου
        γιατί διότι επειδή είναι είμαι είσαι είμαστε ήταν έχει έχουν είχε είχαν εγώ εσύ αυτός αυτή αυτό
        αυτοί αυτές αυτά μου σου μας σας τι ποιος ποια ποιο κάθε όλα όλοι ένα ένας μια μία πολύ πιο τώρα εδώ
        εκεί επίσης μόνο ακόμη
    """,
    "hindi": """
        का के की को में से ने पर और या एक यह वह ये वे इस उस इन उन हैं है हूँ हो था थी थे होता होती होते कर
        करना करने किया गया गई गए जा जाता जो तो भी ही कि लिए साथ तक बाद मैं हम तुम आप मेरा मेरी हमारे अपना
        अपनी अपने उसका उसकी उसके इसका इसके जब तब कब कहाँ क्या कौन कैसे क्यों नहीं न अगर लेकिन परंतु बहुत सब
        कुछ कोई वाले वाला द्वारा रहा रही रहे सकता
    """,
    "hungarian": """
        a az egy és is de vagy hogy ha nem ne már még csak mint meg el ki be fel le én te ő mi ti ők ez azt
        ezt ezek azok ami aki amely amelyek akik ahol amikor mert így úgy volt voltak van vannak lesz lenne
        legyen volna minden sem se itt ott hol mikor miért hogyan nagyon több mely után előtt alatt között
        által szerint való át ennek annak neki nekem vele velük azonban tehát pedig ugyanis
    """,
    "indonesian": """
        ada adalah agar akan aku anda antara apa atau bagi bahwa banyak beberapa belum bisa dalam dan dapat
        dari dengan di dia harus hanya ini itu jika juga kami kamu karena ke kepada kita lagi lain lebih
        maka mana masih mereka namun oleh pada para pun saat saja sampai sangat saya sebagai sebelum sebuah
        sedang seperti serta setelah setiap sudah suatu supaya tapi telah tentang tersebut tetapi tidak
        untuk yaitu yang
    """,
    "irish": """
        a ach ag agus aici aige air an ann ar arna as ba be beidh bhí bhfuil cad cé chuig chun ci dá dár de
        den do don é fad faoi féin fuair ga gach gan go gur i iad idir in ina is í le leis lena mar mé mo
        muid na nach ná ní níl níor nó nuair ó ón os roimh sa san sé seo sí siad sin sinn siúd sna tá thar
        trí tú um
    """,
    "italian": """
        a ad agli ai al alla alle allo anche avere aveva avevano c che chi ci co coi col come con contro cui
        da dagli dai dal dalla dalle dallo degli dei del della delle dello di dove e è ed era erano essere
        fu gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia mio molto ne negli nei nel
        nella nelle nello no noi non nostra nostro o ogni per perché più poi prima qua quale quando quanto
        quella quelle quelli quello questa queste questi questo qui quindi se sei sempre si sia siamo sono
        sopra sotto sta su sua sue sugli sui sul sulla suo suoi te tra tu tua tuo tutti tutto un una uno vi
        voi vostro
    """,
    "lithuanian": """
        ir bet ar arba kad kai kaip nes jei jeigu aš tu jis ji mes jūs jie jos mano tavo jo jų mūsų jūsų tai
        tas ta tie šis ši šie kas kur kada kodėl kuris kuri kurie yra buvo bus būti esu esi esame nėra ne
        nei į iš su be per po prie ant už nuo iki dėl apie pagal prieš tarp taip pat jau dar tik labai visi
        viskas savo save
    """,
    "nepali": """
        र वा को का की लाई ले मा बाट देखि सम्म संग सँग यो त्यो यी ती म हामी तिमी तपाईं उनी ऊ उनले उनको मेरो
        हाम्रो छ छन् हो हुन् थियो थिए भयो भने गर्न गरेको गर्ने पनि तर किन कि के कहाँ कसरी जब तब जो जुन अनि
        यदि नै लागि अब धेरै सबै एक
    """,
    "norwegian": """
        alle at av ble bli blir da de deg dem den denne der dere deres det dette din disse du eller en er et
        ett etter for fra ha hadde han hans har henne hennes her hun hva hvem hver hvis hvor hvordan hvorfor
        i ikke inn ja jeg kan kom kunne man mange med meg mellom men min mitt mot mye ned noe noen når nå og
        også om opp oss over på seg selv sin sine sitt skal skulle slik som så til um under ut var ved vi
        vil ville vår være vært å
    """,
    "persian": """
        و در به از که این آن را با برای است بود شد می هم یا تا بر اما اگر نیز هر چه چون پس من تو او ما شما
        آنها ایشان خود یک دو هیچ همه کرد کرده شده باشد باشند بودند هستند نیست دارد داشت دارند خواهد ها های
        ای وی نه بی پیش روی زیر بین چرا کجا کی چگونه چنین همین همان دیگر بسیار
    """,
    "polish": """
        a aby ale ani bardzo bez był była było były być bo by ci co czy dla do go i ich ile im inny ja jak
        jako jaki je jego jej jest jestem jeszcze jeśli już każdy kiedy kto która które którego której który
        których którzy lub ma mają mi mnie może mój my na nad nam nas nasz nie niego nim nic niż o od on ona
        one oni ono oraz po pod przed przez przy są się sobie sposób swój ta tak także tam te tego tej ten
        też to tu ty tych tylko tym u w we wam was więc wszystko wy z za ze że
    """,
    "portuguese": """
        a à ao aos aquela aquelas aquele aqueles aquilo as às até com como da das de dela dele deles depois
        do dos e é ela elas ele eles em entre era eram essa essas esse esses esta está estão estar estas
        estava este estes eu foi foram há isso isto já la lhe lhes mais mas me mesmo meu meus minha muito na
        não nas nem no nos nós nossa nosso num numa o os ou para pela pelas pelo pelos por porque qual
        quando que quem são se sem ser será seu seus só sua suas também te tem têm tinha tu tua um uma você
        vocês vos
    """,
    "romanian": """
        a acea aceasta această aceea acel acela acele acest acesta aceste acestei acestui acești ai al ale
        am ar are as așa asta atunci au avea avem ca că care ce cea cei cel cele chiar ci cine cu cum da
        dacă dar de deci deși din dintre după e ea ei el ele era erau este eu fi fie fiind fost i ia îi îl
        îmi în între își îți la le li lor lui mai mea mi mult n ne nici nimic noi noastră nostru nu o or ori
        pe pentru până prin sa să sau se și sunt sub t te tot toate toți tu un una unde unei unor unui va vă
        voi vor
    """,
    "russian": """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне
        было вот от меня еще ещё нет о об из ему теперь когда даже ну ли если уже или ни быть был была были
        него до вас нибудь опять уж вам ведь там потом себя ничего ей может они тут где есть надо ней для мы
        тебя их чем сам чтоб чтобы без чего тоже себе под будет тогда кто этот эта это эти того потому этого
        какой при два хотя после над через эту нас про всех них какая свой своей своих моя мой наш тот такой
        том этом который которая которые которого
    """,
    "serbian": """
        i a ali ili da ne je su sam si smo ste se u na za od do iz sa s o po pri k ka kao što šta ko koji
        koja koje kojih kad kada gde kako jer ako ja ti on ona ono mi vi oni one moj tvoj njegov njen naš
        vaš njihov ovaj ova ovo taj ta to te bio bila bilo bili biti bi će ću nije nisu već još samo svi sve
        bez pre posle između nego pa ni и а али или да не је су сам си смо сте се у на за од до из са с о по
        при к ка као што шта ко који која које којих кад када где како јер ако ја ти он она оно ми ви они
        оне мој твој његов њен наш ваш њихов овај ова ово тај та то те био била било били бити би ће ћу није
        нису већ још само сви све без пре после између него па ни
    """,
    "spanish": """
        a al algo alguna algunas alguno algunos ante antes aquel aquella como con contra cual cuando cuyo de
        del desde donde durante e el él ella ellas ellos en entre era eran eres es esa esas ese eso esos
        esta está están estaba estar estas este esto estos fue fueron ha había habían han has hasta hay he
        la las le les lo los más me mi mí mientras mis mucho muy nada ni no nos nosotros nuestra nuestras
        nuestro nuestros o os otra otras otro otros para pero poco por porque que qué quien quienes se sea
        ser si sí sido sin sino sobre son soy su sus suya suyo también tan tanto te tenía ti tiene tienen
        todo todos tu tú tus un una unas uno unos usted ustedes vosotros y ya yo
    """,
    "swedish": """
        alla allt att av blev bli blir blivit då de dem den denna deras dess dessa det detta dig din dina
        ditt du där efter ej eller en er era ert ett från för ha hade han hans har henne hennes hon honom
        hur här i icke ingen inom inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni
        nu när någon något några och om oss på samma sedan sig sin sina sitta själv ska skulle som så sådan
        till under upp ut utan vad var vara varför varit varje vars vem vi vid vilka vilken vilket vår våra
        vårt än är åt över
    """,
    "tamil": """
        மற்றும் ஒரு இந்த அந்த என்று என்ற இது அது இவை அவை நான் நாம் நாங்கள் நீ நீங்கள் அவன் அவள் அவர் அவர்கள்
        எனது என் உன் அவரது ஆனால் அல்லது உள்ள உள்ளது இருந்து இருந்த இருக்கும் இல்லை என பல மிக மேலும் பின்னர்
        போது வரை கொண்ட கொண்டு ஆகும் தான் எந்த என்ன யார் எங்கே எப்போது எப்படி ஏன் எல்லா
    """,
    "turkish": """
        acaba ama ancak artık aslında az bana bazı belki ben beni benim bile bir biraz birçok biri biz bize
        bizim bu buna bunda bundan bunlar bunu bunun burada çok çünkü da daha de değil diğer diye en fakat
        gibi göre hangi hatta hem henüz hep hepsi her hiç için ile ise işte kadar karşı kendi ki kim kimse
        mı mi mu mü nasıl ne neden nerede niçin niye o olan olarak oldu olduğu olmak olur ona onlar onu onun
        orada oysa sadece sana sen seni senin siz size şey şimdi şu tüm üzere var ve veya ya yani yok zaten
    """,
    "yiddish": """
        אַ אָדער אויב אויך אויף אונדז איז איך אים אין איר ביז ביי דאָ דאָס די דעם דער דו דורך האָבן האָט זיי
        זיין זײַן זי זיך זענען ווי ווייל ווען ווער וואָס וועט יאָ יעדער מיט מיר מען ניט נישט נאָך נאָר סיי
        ער עס עפּעס פֿאַר פֿון פון צו קיין קען שוין און אָבער אָן
    """,
}
