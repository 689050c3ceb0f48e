//! The OpenAPI document: whole, valid, and of the routes that are there (I4).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::world::Served;

use crate::site::{CONFIG, world};

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            found.push((path.clone(), method.to_uppercase(), operation.clone()));
        }
    }
    found
}

#[test]
fn i4_the_document_describes_every_route_with_all_its_problems() {
    let world = world(3);
    let served = Served::start(&world);
    let document = served.get("/api/openapi.json").json();
    assert_eq!(document["openapi"], json!("3.1.0"));
    let operations = operations(&document);
    let mut ids = BTreeSet::new();
    for (path, method, operation) in &operations {
        let case = format!("{method} {path}");
        assert!(
            ids.insert(operation["operationId"].as_str().expect(&case).to_owned()),
            "{case}: its id is taken"
        );
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{case}");
        let tag = &operation["tags"][0];
        assert!(
            document["tags"].as_array().unwrap().iter().any(|known| known["name"] == *tag),
            "{case}: {tag}"
        );
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.keys().any(|status| status.starts_with('2')), "{case}");
        for (status, response) in responses.iter().filter(|(status, _)| status.as_str() >= "400") {
            assert!(response["content"]["application/problem+json"].is_object(), "{case} {status}");
        }
        for status in ["401", "403", "500", "503"] {
            assert!(responses.contains_key(status), "{case} {status}");
        }
        if operation.get("requestBody").is_some() {
            for status in ["400", "413", "415", "422"] {
                assert!(responses.contains_key(status), "{case} {status}");
            }
        }
        for name in path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()) {
            let parameters = operation["parameters"].as_array().unwrap();
            assert!(parameters.iter().any(|p| p["name"] == name && p["in"] == "path"), "{case} {name}");
        }
    }
    for reference in references(&document) {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
}

fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn i4_every_route_of_the_document_is_there_and_no_other_method() {
    let world = world(3);
    let served = Served::start(&world);
    let document = served.get("/api/openapi.json").json();
    let mut by_path: std::collections::BTreeMap<String, BTreeSet<String>> = Default::default();
    for (path, method, _) in operations(&document) {
        by_path.entry(path).or_default().insert(method);
    }
    for needed in ["/healthz", "/readyz", "/metrics", "/api/v1/events", "/api/v1/captures/{id}/record"] {
        assert!(by_path.contains_key(needed), "{needed}");
    }
    for (path, methods) in by_path {
        let path = path.replace("{name}", "x").replace("{id}", "x");
        for method in ["GET", "PUT", "POST", "DELETE", "PATCH"] {
            // Not sent to the end: a stream has none.
            let status = served.request(method, &path).open().unwrap().0.status;
            assert_eq!(status != 405, methods.contains(method), "{method} {path}: {status}");
            assert!(status < 500, "{method} {path}: {status}");
        }
    }
}

/// The document of OpenAPI itself is not at hand: its schemas are JSON Schemas, and every one of
/// them must be one.
#[test]
fn i4_the_schemas_are_json_schemas_and_answers_keep_them() {
    let world = world(3);
    let walk = "walks: [{template: 'http://w.test/{id}', name: w, profile: daily, min: 1, max: 3}]\n";
    world.write("c.yaml", &format!("{CONFIG}{walk}"));
    let served = Served::start(&world);
    served.until("something is archived, indexed and walked", |served| {
        !served.json("captures?url=http://a.test/")["items"].as_array().unwrap().is_empty()
            && served.json("indexes")["items"][1]["links"].as_u64() > Some(0)
            && served.json("walks/w")["begun"] == true
    });
    let document = served.get("/api/openapi.json").json();
    let mut seen = 0;
    for (path, method, operation) in operations(&document) {
        let content = &operation["responses"]["200"]["content"]["application/json"];
        if method != "GET" || content.is_null() {
            continue;
        }
        let path = match path.as_str() {
            "/api/v1/why" => "/api/v1/why?url=http://a.test/".to_owned(),
            "/api/v1/captures/{id}" => {
                let id = served.json("captures")["items"][0]["id"].as_str().unwrap().to_owned();
                path.replace("{id}", &id)
            }
            "/api/v1/walks/{name}" => path.replace("{name}", "w"),
            "/api/v1/runs/{run}" => path.replace("{run}", "1"),
            "/api/v1/index/page" | "/api/v1/index/inlinks" | "/api/v1/index/outlinks" => {
                format!("{path}?collection=news&url=http://a.test/1")
            }
            path if path.starts_with("/api/v1/index/") || path == "/api/v1/index" => {
                format!("{}?collection=news", path.replace("{name}", "a.test"))
            }
            "/api/v1/collections/{name}" => path.replace("{name}", "news"),
            "/api/v1/profiles/{name}" => path.replace("{name}", "daily"),
            "/api/v1/seeds/{name}" => path.replace("{name}", "a"),
            "/api/v1/host-groups/{name}" => {
                let body = json!({"hosts": ["x.test"]});
                assert_eq!(served.request("PUT", "/api/v1/host-groups/g:x").json(&body).send().status, 201);
                path.replace("{name}", "g:x")
            }
            "/api/v1/host-settings/{name}" => {
                let (own, body) = (path.replace("{name}", "y.test"), json!({"budget": {"max_harvests": 3}}));
                assert_eq!(served.request("PUT", &own).json(&body).send().status, 201);
                own
            }
            _ => path,
        };
        let mut schema = content["schema"].clone();
        schema["components"] = document["components"].clone();
        let validator =
            jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{path}: {error}"));
        let answer = served.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let answer = answer.json();
        let wrong: Vec<String> = validator
            .iter_errors(&answer)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{path}: {wrong:#?}\n{answer:#}");
        seen += 1;
    }
    assert!(seen >= 30, "{seen}");
}
