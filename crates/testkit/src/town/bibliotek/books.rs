//! What the library holds.

pub(super) struct Book {
    pub(super) slug: &'static str,
    pub(super) title: &'static str,
    pub(super) author: &'static str,
    pub(super) text: &'static str,
}

const fn book(slug: &'static str, title: &'static str, author: &'static str, text: &'static str) -> Book {
    Book { slug, title, author, text }
}

/// Slug and name.
pub(super) const AUTHORS: [(&str, &str); 6] = [
    ("signe-aas", "Signe Aas"),
    ("odd-even", "Odd Even"),
    ("tordis-vik", "Tordis Vik"),
    ("b-brygge", "B. Brygge"),
    ("skurdvik-sanitetsforening", "Skurdvik sanitetsforening"),
    ("ukjent", "Ukjent"),
];

pub(super) const BOOKS: [Book; 24] = [
    book(
        "kornet-og-katten",
        "Kornet og katten",
        "signe-aas",
        "A harvest novel. The cat narrates. Reviewed, [kindly](http://avis.test/sak/laanekort).",
    ),
    book(
        "skurdonn",
        "Skurdonn",
        "signe-aas",
        "Cutting corn, row after row, politely. The second volume is about waiting in between.",
    ),
    book(
        "stillhet",
        "Stillhet",
        "signe-aas",
        "120 pages, most of them empty. [Heard in town](http://avis.test/sak/forfatter).",
    ),
    book("ringene", "Ringene i vannet", "signe-aas", "A stone falls in; everything that follows is linked."),
    book("partall", "Partall", "odd-even", "Poems 2, 4, 6 and 8."),
    book("oddetall", "Oddetall", "odd-even", "Poems 1, 3, 5 and 7, written later."),
    book("samlede-avrundinger", "Samlede avrundinger", "odd-even", "Rounded up from both volumes."),
    book(
        "null",
        "Null",
        "odd-even",
        "An essay on the goals of [Skurdvik football](http://avis.test/sak/fotball).",
    ),
    book(
        "aa-male-ett-fjell",
        "Å male ett fjell",
        "tordis-vik",
        "Forty years, one mountain, with [plates](http://bilder.avis.test/galleri/2).",
    ),
    book("graatt", "Grått", "tordis-vik", "On the eleven useful greys."),
    book(
        "regnboka",
        "Regnboka",
        "tordis-vik",
        "34 words for rain, illustrated. Waterproof edition in [the shop](http://www.butikk.test/vare/regnbok).",
    ),
    book("taake", "Tåke", "tordis-vik", "The plates are missing, or not."),
    book(
        "det-lange-trekket",
        "Det lange trekket",
        "b-brygge",
        "A chess game that outlived three tables. Background: [the paper](http://avis.test/sak/sjakk).",
    ),
    book(
        "knuter",
        "Knuter",
        "b-brygge",
        "Knots for boats and arguments; used by [the rowing club](http://privat.test/).",
    ),
    book(
        "fergetabeller",
        "Fergetabeller 1890–1974",
        "b-brygge",
        "Fiction. The sequel was moved to [the pier](http://omvei.test/).",
    ),
    book(
        "paa-omvei",
        "På omvei",
        "b-brygge",
        "The author set out for [the roundabout](http://omvei.test/rundkjoring) and sent chapters.",
    ),
    book(
        "syltetoey",
        "Syltetøy",
        "skurdvik-sanitetsforening",
        "Blueberry, with numbers. Goes with [forty-one litres](http://avis.test/sak/bl%C3%A5b%C3%A6r).",
    ),
    book("nitti-salmer", "Nitti salmer", "skurdvik-sanitetsforening", "Ninety hymns, nine minutes."),
    book(
        "strikk",
        "Strikk for én hånd",
        "skurdvik-sanitetsforening",
        "Patterns for [single mittens](http://www.butikk.test/vare/votter).",
    ),
    book("kaffe", "Kaffe for førti", "skurdvik-sanitetsforening", "How much, how strong, and who washes up."),
    book(
        "protokollen",
        "Protokollen",
        "ukjent",
        "Minutes of a meeting that may not have taken place. Compare [1893](http://arkiv.test/1893).",
    ),
    book(
        "kartet",
        "Kartet",
        "ukjent",
        "A map of Skurdvik as it should have been. The original is [gone](http://arkiv.test/fjernet/kart).",
    ),
    book("spikeren", "Spikeren", "ukjent", "About [a nail](http://avis.test/sak/museum)."),
    book("uten-tittel", "Uten tittel", "ukjent", "Title, author and contents unknown. Lent out since 1911."),
];
