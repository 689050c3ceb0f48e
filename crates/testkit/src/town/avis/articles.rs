//! What happened in Skurdvik.

pub(super) struct Article {
    pub(super) slug: &'static str,
    pub(super) section: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

const fn article(
    section: &'static str,
    slug: &'static str,
    title: &'static str,
    text: &'static str,
) -> Article {
    Article { slug, section, title, text }
}

pub(super) const FRONT: &str = "\
    Also in town: [new books at the library](http://bibliotek.test/), [mittens in the shop](http://www.butikk.test/), \
    [minutes of 1893](http://arkiv.test/1893), [forms at the town hall](http://tregt.test/) and \
    [rowing](http://privat.test/).
    Elsewhere: [the ferry pier](http://omvei.test/), [the workshop](http://verksted.test/), \
    [the calendar](http://felle.test/) and [the one on holiday](http://ferie.test/).
    Not yet: [drafts](/utkast/), of which [one got out](/utkast/tidlig-ute). All pictures: [bilder.avis.test](http://bilder.avis.test/).";

pub(super) const ABOUT: &str = "\
    Skurdvik Avis has been printed since the press was delivered to the wrong town in 1887.
    Every issue is kept by [the library](http://bibliotek.test/) and, damp, by [the archive](http://arkiv.test/).
    Harvesters are welcome. They may write to the editor, who will not answer.";

pub(super) const ARTICLES: [Article; 32] = [
    article(
        "nyheter",
        "fergen",
        "Fergen kom i tide",
        "For the first time since 1974 the ferry was on time. Nobody was on it.\nThe old timetable is kept at [the pier](http://omvei.test/ferge), behind three signs.",
    ),
    article(
        "nyheter",
        "laanekort",
        "Alle har fått lånekort",
        "All 412 inhabitants now have a card of [Skurdvik library](http://bibliotek.test/). So has a cat, by mistake.\nMost wanted: [Kornet og katten](http://bibliotek.test/bok/kornet-og-katten).",
    ),
    article(
        "nyheter",
        "raadhuset",
        "Rådhuset svarer",
        "The [town hall](http://tregt.test/) answered a letter yesterday. The letter was from 2019.\nIts [archive copy](http://arkiv.test/1902) is older still.",
    ),
    article(
        "nyheter",
        "bl%C3%A5b%C3%A6r",
        "Blåbærrekord",
        "Forty-one litres of blueberries were carried down from Skurdhøgda. Recipes: [the library's shelf](http://bibliotek.test/bok/syltetoey).",
    ),
    article(
        "nyheter",
        "brua",
        "Brua åpnet igjen",
        "The bridge is open again. It had been closed since somebody asked whether it was safe.\nPlans from [1891](http://arkiv.test/1891) say it is.",
    ),
    article(
        "nyheter",
        "maaker",
        "Måkene stemte nei",
        "The gulls were asked about the new bins at the [town hall](http://tregt.test/) and could not be overheard.",
    ),
    article(
        "nyheter",
        "stroembrudd",
        "Strømbrudd i elleve sekunder",
        "The power was gone for eleven seconds. [The workshop](http://verksted.test/) says it was not them this time.",
    ),
    article(
        "sport",
        "roing",
        "Roklubben rodde i ring",
        "With all the strong ones on one side, [the rowing club](http://privat.test/) went round the island without steering.",
    ),
    article(
        "sport",
        "ski",
        "Ski i juli",
        "The last snow of Skurdhøgda was skied on 14 July, both metres of it. [Pictures](http://bilder.avis.test/galleri/1).",
    ),
    article(
        "sport",
        "fotball",
        "0–0 i topp og bunn",
        "Skurdvik is alone in its league and thus both first and last. Tables since [1895](http://arkiv.test/1895).",
    ),
    article(
        "sport",
        "sjakk",
        "Sjakk på biblioteket",
        "The game at [the library](http://bibliotek.test/) enters its ninth year. White is thinking; see [Det lange trekket](http://bibliotek.test/bok/det-lange-trekket).",
    ),
    article(
        "sport",
        "sykkel",
        "Rundt fjorden",
        "Sixty riders took [the detour](http://omvei.test/rundkjoring). They are still out there.",
    ),
    article(
        "sport",
        "votter",
        "Vottekast",
        "Mitten throwing: 31 metres, with wind. The winning mitten is sold in [the shop](http://www.butikk.test/vare/votter).",
    ),
    article(
        "kultur",
        "kor",
        "Koret sang alt",
        "The choir sang everything it knows, which took nine minutes. Notes at [the library](http://bibliotek.test/bok/nitti-salmer).",
    ),
    article(
        "kultur",
        "utstilling",
        "Fjellet igjen",
        "Another exhibition of [the same mountain](http://bilder.avis.test/), and yet people came. Read [Å male ett fjell](http://bibliotek.test/bok/aa-male-ett-fjell).",
    ),
    article(
        "kultur",
        "forfatter",
        "Forfatteren ble stille",
        "At her reading Signe Aas said nothing for an hour. [Her books](http://bibliotek.test/forfatter/signe-aas) say more.",
    ),
    article(
        "kultur",
        "film",
        "Filmkveld",
        "Shown: a film about the archive. Seen by: [the archivist](http://arkiv.test/).",
    ),
    article(
        "kultur",
        "dans",
        "Gammeldans",
        "The floor of the boathouse held. [Members](http://privat.test/) may see the pictures, others must imagine.",
    ),
    article(
        "kultur",
        "museum",
        "Museet fikk en spiker",
        "It is from 1893, like everything. [The minutes](http://arkiv.test/1893) mention it twice.",
    ),
    article(
        "kultur",
        "ordbok",
        "Ord for regn",
        "The dialect has 34 words for rain, listed in [Regnboka](http://bibliotek.test/bok/regnboka) and used below, in [Været](/vaeret).",
    ),
    article("vaeret", "regn", "Regn", "Rain, then rain. See [34 words for it](/sak/ordbok)."),
    article("vaeret", "mer-regn", "Mer regn", "As yesterday, from the other side."),
    article(
        "vaeret",
        "opphold",
        "Opphold",
        "Between two and twenty past two. [Coats](http://www.butikk.test/vare/regnfrakk) may be opened.",
    ),
    article(
        "vaeret",
        "sol",
        "Sol",
        "Reported by one reader, on [Ferieøya](http://ferie.test/). We could not reach her: they are on holiday.",
    ),
    article(
        "vaeret",
        "tidevann",
        "Tidevannet",
        "High twice, low twice. The whole [tide table](http://arkiv.test/tidevann.csv) is long, and so is the tide.",
    ),
    article("vaeret", "vind", "Vind", "From the west, with somebody's [mitten](/kunngjoring/1)."),
    article(
        "debatt",
        "kalender",
        "Hvem eier tiden?",
        "Sir, [the calendar](http://felle.test/kalender/2026/11) has no end. Should it not have one? Yours, Tired.",
    ),
    article(
        "debatt",
        "skilt",
        "For mange skilt",
        "Sir, at [the pier](http://omvei.test/) one sign points to the next. I have been walking since March.",
    ),
    article(
        "debatt",
        "katten",
        "La katten låne",
        "Sir, the cat has returned every book to [the library](http://bibliotek.test/) in time. Can the mayor say the same?",
    ),
    article(
        "debatt",
        "stille",
        "Stillhet, takk",
        "Sir, the [library](http://bibliotek.test/) is too loud. One can hear the chess.",
    ),
    article(
        "debatt",
        "priser",
        "Hva koster en vott?",
        "Sir, one mitten costs the same as two in [the shop](http://www.butikk.test/klaer). I have one hand free to write this.",
    ),
    article("debatt", "svar", "Svar til alle", "Sirs, no. The editor. (More under [About us](/om).)"),
];
