//! The OpenAPI document: what the handlers say of themselves, completed by what holds for all of
//! them.
//!
//! Every operation can end in the problems that its shape brings: a path parameter can lead
//! nowhere, a body can be too large or wrong, and anybody can be refused. The schemas of declared
//! things are those of the config file.

use app::{FieldProblem, Problem};
use serde_json::{Value, json};
use utoipa::PartialSchema;
use utoipa::openapi::OpenApi;

use crate::failure::PROBLEM_JSON;

pub(super) fn complete(openapi: &OpenApi) -> Value {
    let mut document = serde_json::to_value(openapi).unwrap_or_default();
    document["openapi"] = json!("3.1.0");
    document["info"] = json!({
        "title": "Skurd",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "A continuous, polite, crash-proof web harvester: what it is to do, what it does, what it has archived.",
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    document["tags"] = tags();
    document["security"] = json!([{}, { "token": [] }]);
    document["components"]["securitySchemes"] = json!({ "token": { "type": "http", "scheme": "bearer" } });
    for (name, schema) in schemas() {
        document["components"]["schemas"][name] = schema;
    }
    unwrap_texts(&mut document);
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for operation in paths.filter_map(|(_, item)| item.as_object_mut()).flatten() {
        say_exactly(operation.1);
        add_problems(operation.1);
    }
    document
}

/// Texts stand in the source as it is wrapped there: a paragraph is one line here.
fn unwrap_texts(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "description" || name == "summary" => {
                        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
                        *text = paragraphs.collect::<Vec<_>>().join("\n\n");
                    }
                    value => unwrap_texts(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(unwrap_texts),
        _ => {}
    }
}

fn tags() -> Value {
    json!([
        { "name": "declared", "description": "What to harvest: collections, profiles, seeds, host groups, settings." },
        { "name": "control", "description": "Start, pause, resume." },
        { "name": "queue", "description": "The URLs that are known, their hosts, and why each is or is not harvested." },
        { "name": "walks", "description": "The ids of URL templates: what was found, what is missing, what is left." },
        { "name": "archive", "description": "What was harvested." },
        { "name": "index", "description": "What pages say about each other: ranks, links with their texts, what was never captured." },
        { "name": "url-frontier", "description": "The crawls and queues of other crawlers that are served beside the harvest." },
        { "name": "reports", "description": "Lateness, domains, errors, and what politeness allows." },
        { "name": "config", "description": "Checking a config, applying it, and seeing what it would harvest." },
        { "name": "server", "description": "Figures, events, metrics, health." },
    ])
}

/// What is declared, as the config file writes it: by name, in a path, so that the body need not
/// repeat it.
fn schemas() -> Vec<(String, Value)> {
    let config = declare::schema();
    let own = |schema| serde_json::to_value(schema).unwrap_or_default();
    let mut schemas = vec![
        ("Problem".to_owned(), own(Problem::schema())),
        ("FieldProblem".to_owned(), own(FieldProblem::schema())),
        ("Settings".to_owned(), config["properties"]["settings"]["anyOf"][0].clone()),
    ];
    for (name, section) in [
        ("Collection", "collections"),
        ("Profile", "profiles"),
        ("Seed", "seeds"),
        ("HostGroup", "host_groups"),
        ("HostSettings", "hosts"),
    ] {
        let list = &config["properties"][section]["anyOf"][0];
        let mut schema = list["items"].clone();
        if name == "Profile" {
            // Who inherits from whom is a matter of the file.
            schema["properties"].as_object_mut().map(|keys| keys.remove("extends"));
            schema.as_object_mut().map(|schema| schema.remove("anyOf"));
            schema["required"] = json!(["collection", "every"]);
        }
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|key| key != "name" && key != "host");
        }
        schemas.push((name.to_owned(), schema));
        let items = json!({ "type": "array", "items": { "$ref": format!("#/components/schemas/{name}") } });
        let page = json!({
            "type": "object",
            "required": ["items", "next"],
            "properties": { "items": items, "next": { "type": ["string", "null"], "description": "The `cursor` of the next page." } },
        });
        schemas.push((format!("{name}Page"), page));
    }
    schemas
}

/// A parameter that may be left out cannot be null, a body cannot be left out, and bytes have no
/// schema.
fn say_exactly(operation: &mut Value) {
    if let Some(body) = operation.get_mut("requestBody") {
        body["required"] = json!(true);
    }
    for kind in ["application/octet-stream", "application/warc"] {
        let content = operation.pointer_mut("/responses/200/content");
        if let Some(bytes) = content.and_then(|content| content.get_mut(kind)) {
            *bytes = json!({});
        }
    }
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let schema = &mut parameter["schema"];
        if let Some(kinds) = schema["type"].as_array().cloned() {
            schema["type"] = kinds.into_iter().find(|kind| kind != "null").unwrap_or_default();
        }
        let named =
            schema["oneOf"].as_array().and_then(|kinds| kinds.iter().find(|kind| kind["type"] != "null"));
        if let Some(named) = named.cloned() {
            *schema = named;
        }
    }
}

fn add_problems(operation: &mut Value) {
    let has_body = operation.get("requestBody").is_some();
    let has_parameters = operation["parameters"].as_array().is_some_and(|list| !list.is_empty());
    let problems = [
        (400, has_parameters || has_body, "The request cannot be read"),
        (401, true, "The token is missing or wrong"),
        (403, true, "From another origin, or under another name"),
        (413, has_body, "The body is too large"),
        (415, has_body, "The body has the wrong content type"),
        (422, has_body, "The body says something that cannot be"),
        (500, true, "Something failed on this side"),
        (503, true, "Too much at once, or stopping"),
    ];
    let problem = json!({ PROBLEM_JSON: { "schema": { "$ref": "#/components/schemas/Problem" } } });
    let Some(responses) = operation["responses"].as_object_mut() else { return };
    for (status, _, description) in problems.into_iter().filter(|(_, can_be, _)| *can_be) {
        responses.entry(status.to_string()).or_insert_with(|| json!({ "description": description }));
    }
    for (_, response) in responses.iter_mut().filter(|(status, _)| status.as_str() >= "400") {
        response["content"] = problem.clone();
    }
}
