//! What the host of a URL is doing, and the group it shares its slots with, in a sentence.

use app::why::WhyHost;
use policy::time::Time;

use super::{moment, when};

pub(super) fn sentence(host: &WhyHost, now: Time) -> String {
    if host.idle {
        return format!("{} has no URLs waiting", host.host);
    }
    let mut parts = vec![host.host.clone()];
    if let Some(group) = &host.group {
        parts[0].push_str(&format!(" (in group {group})"));
    }
    parts.extend(busy("busy with", &host.in_flight, host.busy_until.as_deref()));
    parts.extend(busy("its group is busy with", &host.group_in_flight, host.group_busy_until.as_deref()));
    let backs_off = host.backoff_until.as_deref().and_then(moment).filter(|until| *until > now);
    if let Some(until) = backs_off {
        parts.push(format!("backs off until {} after {} failures", when(until, now), host.failures));
    }
    parts.push(match next(host) {
        Some(next) if next > now => format!("can next be asked {}", when(next, now)),
        Some(_) => "can be asked now".to_owned(),
        None => "no slot is free".to_owned(),
    });
    parts.join(", ")
}

/// When it can next be asked; a host in a group that is in use waits for the group too.
fn next(host: &WhyHost) -> Option<Time> {
    let own = host.next.as_deref().and_then(moment);
    match host.group_in_use {
        true => own.zip(host.group_next.as_deref().and_then(moment)).map(|(own, group)| own.max(group)),
        false => own,
    }
}

fn busy(how: &str, urls: &[String], until: Option<&str>) -> Option<String> {
    let (first, until) = urls.first().zip(until)?;
    let more = if urls.len() > 1 { format!(" and {} more", urls.len() - 1) } else { String::new() };
    Some(format!("{how} {first}{more}, reserved until {until}"))
}
