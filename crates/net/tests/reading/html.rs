//! A10: links in HTML, and in what stands beside it.

use crate::world::{Reading, head, html, lines, shown};

/// One line of HTML, and the links that are in it on `http://a.no/dir/page`.
#[test]
fn a10_elements_and_their_kinds() {
    let table = r##"
        <a href="x">text</a>                        => Link http://a.no/dir/x "text"
        <A HREF=x>text</A>                          => Link http://a.no/dir/x "text"
        <a href='/x?a=1&amp;b=2&copy=3&lt=4'>t</a>  => Link http://a.no/x?a=1&b=2&copy=3&lt=4 "t"
        <a href="&#x2F;x&#47;y">t</a>               => Link http://a.no/x/y "t"
        <a href="caf&eacute;">t</a>                 => Link http://a.no/dir/caf%C3%A9 "t"
        <a href = " x " >t</a>                      => Link http://a.no/dir/x "t"
        <a href=x/y/>t</a>                          => Link http://a.no/dir/x/y/ "t"
        <a href="x" href="y">t</a>                  => Link http://a.no/dir/x "t"
        <a name="x">t</a>                           =>
        <a href="">t</a><a href="#x">t</a>          =>
        <a href="//b.no">b</a>                      => Link http://b.no/ "b"
        <a href="///b.no/x">b</a>                   => Link http://b.no/x "b"
        <area href="x" alt="the  area">             => Link http://a.no/dir/x "the area"
        <link rel=stylesheet href=x>                => Requisite http://a.no/dir/x
        <link rel="shortcut icon" href=x>           => Requisite http://a.no/dir/x
        <link rel=next href=x>                      => Link http://a.no/dir/x
        <link rel=preconnect href=//x.no>           =>
        <link rel=preload as=image imagesrcset="x 1x, y 2x"> => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <img src=x alt=a>                           => Requisite http://a.no/dir/x
        <img src=x srcset="x 1x, y 2x">             => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <img data-src=x>                            => Requisite http://a.no/dir/x
        <img data-original=x data-lazy-src=y>       => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <img data-lazy-srcset="x 1x, y 2x">         => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <amp-img src=x srcset="y 2x"></amp-img>     => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <image src=x srcset="y 2x">                 => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <image href=x xlink:href=y>                 =>
        <svg><image src=x></svg>                    =>
        <meta property="og:image" content="x">      => Requisite http://a.no/dir/x
        <meta name="twitter:image" content="x">     => Requisite http://a.no/dir/x
        <meta property=og:image:secure_url content=x><meta name=Twitter:Image:Src content=y> => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <meta property="og:image:width" content="9"><meta property="og:url" content="x"> =>
        <picture><source srcset="x 1x"><img src=y></picture> => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <script src=x></script>                     => Requisite http://a.no/dir/x
        <script>"<a href=x>"</script>               =>
        <iframe src=x><a href=y></iframe>           => Requisite http://a.no/dir/x
        <iframe data-lazy-src=x></iframe>           => Requisite http://a.no/dir/x
        <iframe srcdoc="<a href='x'>t</a><img src=&quot;y&quot;>"></iframe> => Link http://a.no/dir/x "t"; Requisite http://a.no/dir/y
        <iframe srcdoc="<base href=/b/><a href=x>t</a>"></iframe><a href=x>u</a> => Link http://a.no/b/x "t"; Link http://a.no/dir/x "u"
        <base href=/c/><iframe srcdoc="<a href=x>t</a><base href=b/>"></iframe> => Link http://a.no/c/b/x "t"
        <iframe srcdoc="<iframe srcdoc='<a href=x>t</a>'></iframe><a href=y>u</a>"></iframe> => Link http://a.no/dir/x "t"; Link http://a.no/dir/y "u"
        <iframe srcdoc="<meta http-equiv=refresh content='0;url=x'>"></iframe> => Requisite http://a.no/dir/x
        <iframe srcdoc="<style>@import 'x"></iframe><a href=y>t</a> => Requisite http://a.no/dir/x; Link http://a.no/dir/y "t"
        <frameset><frame src=x></frameset>          => Requisite http://a.no/dir/x
        <video src=x poster=y><track src=z></video> => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y; Requisite http://a.no/dir/z
        <audio src=x></audio><embed src=y>          => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <object data=x></object>                    => Requisite http://a.no/dir/x
        <input type=IMAGE src=x><input src=y>       => Requisite http://a.no/dir/x
        <body background=x><td background=y>        => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <svg><use xlink:href="x#i"/><image href=y /></svg> => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <svg><style/><title/><a href=x></a></svg>   => Link http://a.no/dir/x
        <svg><a xlink:href=x>t</a></svg>            => Link http://a.no/dir/x "t"
        <svg><a href=x xlink:href=y>t</a></svg>     => Link http://a.no/dir/x "t"
        <a xlink:href=x>t</a>                       =>
        <svg><script xlink:href=x /><script href=y></script></svg> => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <svg><script src=x></script></svg><script href=y></script> =>
        <svg><style>a{b:url(x)}</style></svg>       => Requisite http://a.no/dir/x
        <svg><style><![CDATA[a{b:url(x?a&b)}]]></style></svg> => Requisite http://a.no/dir/x?a&b
        <svg><style>a{b:url(x?a&amp;b)}</style></svg> => Requisite http://a.no/dir/x?a&b
        <svg><style>a{b:url(x)}</svg><a href=y>t</a> => Requisite http://a.no/dir/x; Link http://a.no/dir/y "t"
        <svg><style>a{b:url(x)}<div><a href=y>t</a> => Requisite http://a.no/dir/x; Link http://a.no/dir/y "t"
        <svg><script>x</svg><a href=y>t</a>         => Link http://a.no/dir/y "t"
        <svg><title>x</svg><a href=y>t</a>          => Link http://a.no/dir/y "t"
        <svg><g></svg><script>"<a href=x>"</script> =>
        <svg><p><script>"<a href=x>"</script>       =>
        <p><svg></p><script>"<a href=x>"</script>   =>
        <a href=y><svg></a><script>"<a href=x>"</script> => Link http://a.no/dir/y
        <svg><foreignObject><script>"<a href=x>"</script></foreignObject></svg> =>
        <svg><foreignObject><a xlink:href=x></a></foreignObject><a xlink:href=y>t</a></svg> => Link http://a.no/dir/y "t"
        <math><mi><script>"<a href=x>"</script></mi></math> =>
        <svg></path><a xlink:href=x>t</a></svg>     => Link http://a.no/dir/x "t"
        <meta http-equiv=Refresh content="0; url=x"> => Redirect http://a.no/dir/x
        <meta http-equiv=refresh content="30">      =>
        <meta name=refresh content="0; url=x">      =>
        <form action=x></form>                      =>
        <noscript><img src=x></noscript>            => Requisite http://a.no/dir/x
        <noframes><a href=x>t</a></noframes>        => Link http://a.no/dir/x "t"
        <template><a href=x>t</a></template>        => Link http://a.no/dir/x "t"
        <textarea><a href=x></textarea>             =>
        <!-- <a href=x> --><a href=y>t</a>          => Link http://a.no/dir/y "t"
        <!--><a href=y>t</a>                        => Link http://a.no/dir/y "t"
        <!-- --!><a href=y>t</a>                    => Link http://a.no/dir/y "t"
        <p style="background:url(x)">               => Requisite http://a.no/dir/x
        <p style='background:url(&quot;x&quot;)'>   => Requisite http://a.no/dir/x
        <style>@import "x"; p{background:url(y)}</style> => Requisite http://a.no/dir/x; Requisite http://a.no/dir/y
        <style>p{background:url(yyyyyyyyyy)}        => Requisite http://a.no/dir/yyyyyyyyyy
        <style>p{background:url(yyyyyyyyyy)</styl   => Requisite http://a.no/dir/yyyyyyyyyy
        <a href="javascript:x()"><a href="mailto:a@b"><a href="tel:1"><img src="data:,x"> =>
        <a href="x" rel="nofollow">t</a>            => Link http://a.no/dir/x "t"
        <a ping="x">t</a>                           =>"##;
    for line in lines(table) {
        let (body, expected) = line.split_once("=>").unwrap();
        assert_eq!(shown(&html(body.trim())).join("; "), expected.trim(), "{body}");
    }
}

#[test]
fn a10_anchor_text_is_what_a_reader_sees() {
    let table = r#"
        <a href=x> two\n  words </a>                 => two words
        <a href=x><b>in</b>ner <i>tags</i></a>       => inner tags
        <a href=x>&lt;b&gt; &amp; &nbsp; &hearts;</a> => <b> & ♥
        <a href=x><img src=y alt="a picture"></a>    => a picture
        <a href=x>text<img src=y alt="a picture"></a> => text
        <a href=x><script>no()</script>yes</a>       => yes
        <a href=x>unclosed <a href=y>next</a>        => unclosed
        <a href=x>to the end                         => to the end
        <a href=x></a><a href=x>second</a><a href=x>third</a> => second
        <a href=x>1 < 2</a>                          => 1 < 2
        <a href=x>before<style>p{}</style> after</a> => before after
        <a href=x><style>p{}</style>after            => after
        <a href=x>1<title>2</title>3</a>             => 13
        <a href=x><svg><style>p{}</style><script>s</script><path d=x /></svg>after</a> => after
        <a href=x><svg><title>an icon</title><path d=x /></svg></a> => an icon
        <a href=x><svg><title>an icon</title></svg>text</a> => text
        <a href=x>to the <                           => to the <
        <a href=x><!-- hidden -->shown</a>           => shown"#;
    for line in lines(table) {
        let (body, expected) = line.split_once("=>").unwrap();
        let found = html(body.trim().replace("\\n", "\n"));
        assert_eq!(found.links[0].anchor, expected.trim(), "{body}");
    }
    let long = html(format!("<a href=x>{}</a>", "é".repeat(1000)));
    assert_eq!(long.links[0].anchor, "é".repeat(128));
    // What is read of the page for an anchor ends after 1,024 bytes, wherever that is.
    for blanks in 1010..1030 {
        for (charset, tail) in
            [("utf-8", "é€é€é€é€é€é€".as_bytes()), ("shift_jis", b"\x93\xFA\x96\x7B".repeat(9).as_slice())]
        {
            let page = Reading::new("http://a.no/", &format!("text/html;charset={charset}"));
            let body = [b"<a href=x>a", " ".repeat(blanks).as_bytes(), tail, b"</a>"].concat();
            let anchor = page.of(body).links[0].anchor.clone();
            assert!(!anchor.contains(char::REPLACEMENT_CHARACTER), "{charset} {blanks}: {anchor}");
        }
        let anchor = html(format!("<a href=x>a{}&eacute;&eacute;&eacute;</a>", " ".repeat(blanks)));
        assert!(!anchor.links[0].anchor.contains('&'), "{blanks}: {}", anchor.links[0].anchor);
    }
    let mut without = Reading::new("http://a.no/", "text/html");
    without.limits.anchor_bytes_max = 0;
    assert_eq!(without.of("<a href=x>text</a>").links[0].anchor, "");
}

#[test]
fn a10_a_base_holds_for_the_whole_page() {
    let table = r#"
        <base href=/b/><a href=x>                     => http://a.no/b/x
        <a href=x><base href="http://b.no/c/">        => http://b.no/c/x
        <base target=_blank><base href=/b/><a href=x> => http://a.no/b/x
        <base href=/b/><base href=/c/><a href=x>      => http://a.no/b/x
        <base href=""><a href=x>                      => http://a.no/dir/x
        <base href="//test:test"><a href=x>           => http://a.no/dir/x
        <base href="javascript:1"><a href=x>          => http://a.no/dir/x
        <base href=b><a href=x>                       => http://a.no/dir/x
        <template><base href=/b/></template><a href=x> => http://a.no/dir/x
        <template><template></template><base href=/b/></template><base href=/c/><a href=x> => http://a.no/c/x
        <svg><base href=/b/></svg><a href=x>          => http://a.no/dir/x
        <svg><base href=/b/ /></svg><base href=/c/><a href=x> => http://a.no/c/x
        <svg><foreignObject><base href=/b/></foreignObject></svg><a href=x> => http://a.no/b/x"#;
    for line in lines(table) {
        let (body, expected) = line.split_once("=>").unwrap();
        assert_eq!(html(body).links[0].url.as_str(), expected.trim(), "{body}");
    }
}

#[test]
fn a10_form_targets_are_optional() {
    let mut with_forms = Reading::new("http://a.no/", "text/html");
    with_forms.forms = true;
    let found = with_forms.of("<form action=get></form><form method=POST action=post></form><form></form>");
    assert_eq!(shown(&found), ["Link http://a.no/get"]);
}

#[test]
fn a10_the_same_link_is_kept_once_per_kind() {
    let found = html("<a href=x></a><a href=/dir/x#y>named</a><img src=x><a href='./x'>other</a>");
    assert_eq!(shown(&found), ["Link http://a.no/dir/x \"named\"", "Requisite http://a.no/dir/x"]);
}

#[test]
fn a10_links_beyond_the_limit_and_useless_ones_are_counted() {
    let mut two = Reading::new("http://a.no/", "text/html");
    two.limits.links_max = 2;
    let found =
        two.of("<a href=1><a href=2><a href=1><a href=3><a href=4><a href=mailto:x><a href='http://'>");
    assert_eq!((found.links.len(), found.dropped, found.unusable), (2, 3, 1));
    let refused = html("<a href='http://'><a href=javascript:x><a href='http://a b/'>");
    assert_eq!((refused.links.len(), refused.dropped, refused.unusable), (0, 0, 3));
}

#[test]
fn a10_the_title_is_read() {
    let table = r#"
        <title> A\n &amp; B </title><svg><title>C</title></svg> => A & B
        <template><title>A</title></template><title>B</title>   => B
        <svg><title>A</title></svg><title>B</title>             => B
        <title>never closed</titl                               => never closed</titl
        <title><a href=x></title>                               => <a href=x>"#;
    for line in lines(table) {
        let (body, expected) = line.split_once("=>").unwrap();
        assert_eq!(html(body.replace("\\n", "\n")).title.as_deref(), Some(expected.trim()), "{body}");
    }
    assert_eq!(html("<p>").title, None);
}

#[test]
fn a10_headers_name_links_too() {
    let mut page = Reading::new("http://a.no/dir/page", "text/html");
    page.head = head(
        301,
        &[
            ("location", "/moved"),
            ("LINK", "</style.css>; rel=preload; as=style, <next>; rel=\"next\""),
            ("Link", "<https://b.no>; rel=preconnect"),
            ("Refresh", "5; url=later"),
            ("Content-Type", "text/html"),
        ],
    );
    let expected = lines(
        "Redirect http://a.no/moved
         Redirect http://a.no/dir/later
         Requisite http://a.no/style.css
         Link http://a.no/dir/next
         Link http://b.no/x",
    );
    assert_eq!(shown(&page.of("<base href=http://b.no><a href=x>")), expected, "a base is not for headers");
    page.head.status = 200;
    assert_eq!(page.of("").links[0].how, "header/refresh", "a Location that redirects nobody");
}

/// All values of the web platform tests; what follows `=>` is the URL, if the refresh goes
/// elsewhere.
#[test]
fn a10_a_refresh_is_read_by_the_standard() {
    let table = r#"
        1 | 1\t | 1; | 1, | 1url=foo | 1x;url=foo | ; foo | ;foo | , foo | ,foo | foo =>
        +1; url=foo | -1; url=foo | +0; url=foo | -0; foo | +1 | -0 | 0 | 1e0; url=foo | 10e-1; url=foo | -0.1; url=foo =>
        1; url=foo | 1, url=foo | 1 url=foo | 1;\turl=foo | 1,\nurl=foo | 1\furl=foo | 1\rurl=foo => foo
        \s\s1\s\s;\s\surl\s\s=\s\sfoo | \s1\s,\surl\s=\sfoo | \s1\s;\sfoo | \s1\surl\s=\sfoo | 1; url=foo\s => foo
        1; url="foo"bar | 1; url='foo'bar | 1; "foo"bar | 1; url=f\to\no => foo
        0; url=foo | 0; foo | 1.9; url=foo | 1.9..5.; url=foo | .9; url=foo | 0...9; url=foo | 0...; url=foo => foo
        1 x;url=foo => x;url=foo
        1;;url=foo => ;url=foo
        1; url="foo'bar => foo'bar
        1; url foo => url%20foo
        1; urlfoo => urlfoo
        1; urfoo => urfoo
        1; ufoo => ufoo"#;
    for line in lines(table) {
        let (inputs, expected) = line.split_once("=>").unwrap();
        for input in inputs.split(" | ") {
            let spelt = [("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r"), ("\\f", "\x0C"), ("\\s", " ")];
            let input = spelt.iter().fold(input.trim().to_owned(), |text, (from, to)| text.replace(from, to));
            let body = format!("<meta http-equiv=refresh content=\"{}\">", input.replace('"', "&quot;"));
            let found: Vec<String> = html(body).links.into_iter().map(|link| link.url.into()).collect();
            let expected = match expected.trim() {
                "" => Vec::new(),
                path => vec![format!("http://a.no/dir/{path}")],
            };
            assert_eq!(found, expected, "{input:?}");
        }
    }
}

/// XML of any kind: the style sheet it is shown with, and elements with a base of their own.
#[test]
fn a10_xml_names_its_style_sheet_and_its_bases() {
    let table = r#"
        <?xml-stylesheet type="text/xsl" href="s.xsl?a&amp;b"?><other/>   => Requisite http://a.no/dir/s.xsl?a&b
        <?xml version="1.0"?><?xml-stylesheet href='s.css'?><?xml-stylesheet href="t.css" ?><other/> => Requisite http://a.no/dir/s.css; Requisite http://a.no/dir/t.css
        <other/><?xml-stylesheet href="s.css"?>                           =>
        <?xml-stylesheets href="s.css"?><?xml-stylesheet?><other/>        =>
        <!-- <?xml-stylesheet href="s.css"?> --><other/>                  =>
        <?xml-stylesheet href="s.xsl"?><urlset><loc>/1</loc></urlset>     => Requisite http://a.no/dir/s.xsl; Link http://a.no/1
        <?xml-stylesheet href="s.css"?><svg><a xlink:href="x">t</a></svg> => Requisite http://a.no/dir/s.css; Link http://a.no/dir/x "t"
        <feed xml:base="/b/"><entry><link href="1"/></entry></feed>       => Link http://a.no/b/1
        <feed xml:base="/b/"><entry xml:base="c/"><link href="1"/></entry><entry><link href="2"/></entry></feed> => Link http://a.no/b/c/1; Link http://a.no/b/2
        <feed><entry xml:base="/b/"><link href="1"/></entry><entry><link href="2"/></entry></feed> => Link http://a.no/b/1; Link http://a.no/dir/2
        <feed><entry xml:base="/b/"><br><link href="1"/></entry><link href="2"/></feed> => Link http://a.no/b/1; Link http://a.no/dir/2
        <feed><entry xml:base="javascript:"><link href="1"/></entry></feed> => Link http://a.no/dir/1
        <feed><link href="1" xml:base="/b/"/><link href="2"/></feed>      => Link http://a.no/b/1; Link http://a.no/dir/2
        <html><p xml:base="/b/"><a href="x">t</a></p><a href="x">u</a></html> => Link http://a.no/b/x "t"; Link http://a.no/dir/x "u"
        <html><base href="/c/"/><p xml:base="b/"><a href="x">t</a></p></html> => Link http://a.no/c/b/x "t"
        <svg xml:base="/b/"><image xlink:href="x"/><script xlink:href="y"/></svg> => Requisite http://a.no/b/x; Requisite http://a.no/b/y
        <html><a href="x"/>text<a href="y">u</a></html>                   => Link http://a.no/dir/x; Link http://a.no/dir/y "u"
        <html><template/><base href="/b/"/><a href="x">t</a></html>       => Link http://a.no/b/x "t"
        <html><style>p{b:url(x?a&amp;b)}</style><a href="y"><script>s</script>t</a></html> => Requisite http://a.no/dir/x?a&b; Link http://a.no/dir/y "t""#;
    let page = Reading::new("http://a.no/dir/page", "application/xml");
    for line in lines(table) {
        let (body, expected) = line.split_once("=>").unwrap();
        assert_eq!(shown(&page.of(body.trim())).join("; "), expected.trim(), "{body}");
    }
    assert_eq!(
        shown(&html("<?xml-stylesheet href=s.css?><p xml:base=/b/><a href=x>t</a>")),
        ["Link http://a.no/dir/x \"t\""]
    );
}

/// A style that is too long is read up to its last whole rule: half a URL is none.
#[test]
fn a10_a_style_that_is_cut_names_no_half_urls() {
    let rule = "p{b:url(/0123456789)}\n";
    let css = rule.repeat((9 << 20) / rule.len());
    for (content_type, body) in [("text/css", css.clone()), ("text/html", format!("<style>{css}</style>"))] {
        let found = Reading::new("http://a.no/", content_type).of(body);
        assert_eq!(shown(&found), ["Requisite http://a.no/0123456789"], "{content_type}");
    }
}

#[test]
fn a10_links_with_users_are_no_links_of_the_index() {
    let table = "
        http://u@a.no/  | user
        //u@a.no/       | user
        ///u:p@a.no/    | user
        \\\\u@a.no/     | user
        http:\\\\u@a.no  | user
        /u@a.no/        | none
        u@a.no          | none
        http://a.no/@b  | none
        x?//u@b         | none";
    for line in lines(table) {
        let (href, expected) = line.split_once('|').unwrap();
        let found = html(format!("<a href='{}'>t</a>", href.trim()));
        assert_eq!(found.links[0].is_indexed(), expected.trim() == "none", "{href}");
    }
    assert!(html("<svg><a xlink:href=x>t</a></svg>").links[0].is_indexed());
}

#[test]
fn a10_style_sheets() {
    let table = r#"
        p{background:url(x)}                       => Requisite http://a.no/x
        p{background:URL( "x" )} q{b:url('y')}     => Requisite http://a.no/x; Requisite http://a.no/y
        @import "x"; @IMPORT url(y) screen;        => Requisite http://a.no/x; Requisite http://a.no/y
        @import/* c */'x';                         => Requisite http://a.no/x
        /* url(no) */ p{content:"url(no)"}         =>
        p{b:curl(no)} p{b:-url(no)}                =>
        @namespace url(http://www.w3.org/1999/xhtml); p{b:url(x)} => Requisite http://a.no/x
        p{b:url(a\)b)} p{b:url("c\"d")}            => Requisite http://a.no/a)b; Requisite http://a.no/c%22d
        p{b:url(\66oo)}                            => Requisite http://a.no/foo
        p{b:url(data:x)} p{b:url(#x)}              =>
        p{b:url(                                   =>
        p{b:url("x                                 => Requisite http://a.no/x
        p{b:url(x                                  => Requisite http://a.no/x
        @import                                    =>
        \                                          =>
        é"é\é                                      => "#;
    let css = Reading::new("http://a.no/", "text/css");
    for line in lines(table) {
        let (body, expected) = line.split_once("=>").unwrap();
        assert_eq!(shown(&css.of(body.trim())).join("; "), expected.trim(), "{body}");
    }
    let latin = b"@charset \"iso-8859-1\"; p{b:url(\xE9)}";
    assert_eq!(shown(&css.of(latin)), ["Requisite http://a.no/%C3%A9"]);
}

#[test]
fn a10_a_body_is_taken_for_what_it_is() {
    let table = "
        text/html                => <p><a href=x>  => 1
        TEXT/HTML;charset=x      => <p><a href=x>  => 1
        application/xhtml+xml    => <html><script src=y/><a href=x></a></html> => 2
        text/xml                 => <?xml version='1.0'?><html><a href=x/></html> => 1
        application/xml          => <other><a href=x/></other> => 0
        image/svg+xml            => <svg><image href='x'/></svg> => 1
        text/plain               => <html><a href=x> => 0
        -                        => <!-- c --><!DOCTYPE html><a href=x> => 1
        -                        => <!doctype HTML><q><a href=x> => 1
        application/octet-stream => <html><a href=x> => 1
        nonsense                 => <body><a href=x> => 1
        -                        => plain <a href=x> => 0
        image/png                => <html><a href=x> => 0
        application/json         => <html><a href=x> => 0
        text/html, text/html; charset=utf-8 => <p><a href=x> => 1
        text/html;charset=a, text/html => <p><a href=x> => 1
        image/png, text/html     => <p><a href=x> => 1
        text/html, */*           => <p><a href=x> => 1
        text/html, image/png     => <p><a href=x> => 0
        text/html, nonsense      => <p><a href=x> => 1
        text/html;a=\", image/png\" => <p><a href=x> => 1
        application/xml          => <?xml-stylesheet href='x' type='text/xsl'?><other/> => 1
        text/html                => <?xml version='1.0'?><rss><link>http://b.no/</link></rss> => 1";
    for line in lines(table) {
        let [content_type, body, count] = line.split("=>").map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let mut page = Reading::new("http://a.no/", content_type);
        if content_type == "-" {
            page.head.headers.clear();
        }
        assert_eq!(page.of(body).links.len().to_string(), count, "{line}");
    }
}
