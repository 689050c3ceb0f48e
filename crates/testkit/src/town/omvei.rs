//! `omvei.test`: the ferry pier, where every sign points to the next one.

use crate::web::{Answer, Ask};

use super::html::{Site, prose};
use super::reply::Reply;

const SITE: Site = Site {
    name: "Omvei brygge",
    motto: "you can get there from here, eventually",
    colour: "#00695c",
    menu: "[Pier](/)",
    foot: "Arrived? Tell [Skurdvik Avis](http://avis.test/), or rest at [the library](http://bibliotek.test/).",
};

/// From, status, to.
const SIGNS: [(&str, u16, &str); 11] = [
    ("/gammel-avis", 301, "http://avis.test/"),
    ("/laan", 308, "http://bibliotek.test/bok/fergetabeller"),
    ("/handel", 307, "http://butikk.test/"),
    ("/ferge", 302, "/ferge/kai"),
    ("/ferge/kai", 302, "baat"),
    ("/ferge/baat", 303, "http://omvei.test/ferge/fremme"),
    ("/rundkjoring", 302, "/rundkjoring/nord"),
    ("/rundkjoring/nord", 302, "/rundkjoring/soer"),
    ("/rundkjoring/soer", 302, "/rundkjoring"),
    ("/speil", 302, "/speil"),
    ("/ingensteds", 302, "http://:80:80/"),
];

const PIER: &str = "\
    [The old newspaper kiosk](/gammel-avis) has moved. So have [the lending box](/laan) and [the stall](/handel).
    Timetable: [the ferry](/ferge), in three changes. Do not enter [the roundabout](/rundkjoring) or [the mirror](/speil).
    There is [a sign](/skilt) that changes while you read it, [a footpath](/sti) known from its headers alone, \
    [a gate](/port) that wants to see your ticket, [a sign to nowhere](/ingensteds) and [one without words](/blankt).";

pub(super) fn answer(ask: &Ask) -> Answer {
    if let Some((_, status, to)) = SIGNS.iter().find(|(from, ..)| *from == ask.path) {
        return Reply::redirect(*status, to).send();
    }
    page(ask).send()
}

fn page(ask: &Ask) -> Reply {
    match ask.path.as_str() {
        "/" => SITE.reply("Brygga", &prose(PIER)),
        "/ferge/fremme" => SITE.reply(
            "Fremme",
            &prose("You have arrived. It is the pier you [left](/), seen from the other side."),
        ),
        "/skilt" => Reply::html(SITE.page_with(
            "<meta http-equiv=\"refresh\" content=\"0; url=/skilt/nytt\">\n",
            "Skilt",
            &prose("This sign is about to be replaced."),
        )),
        "/skilt/nytt" => SITE.reply("Nytt skilt", &prose("This sign replaces the previous one.")),
        "/sti" => SITE.reply("Stien", &prose("The way on is not written here.")).header(
            "Link",
            "</sti/videre>; rel=\"next\", <http://bilder.avis.test/stil.css>; rel=\"preload\"; as=\"style\"",
        ),
        "/sti/videre" => SITE.reply("Videre", &prose("Whoever reads headers gets further.")),
        "/port" => gate(ask),
        "/blankt" => SITE.reply("Blankt", &prose("A redirect without a place to go.")).status(302),
        _ => SITE.not_found(),
    }
}

/// Redirects to itself until its cookie comes back.
fn gate(ask: &Ask) -> Reply {
    match ask.cookie("billett") {
        Some(_) => SITE.reply("Gjennom porten", &prose("Your ticket was in order.")),
        None => Reply::redirect(302, "/port").header("Set-Cookie", "billett=1; Path=/port"),
    }
}
