//! F17: at the door of the host.

use policy::evaluate::{Access, Dns, Robots, access};

use crate::world::day;

#[test]
fn f17_dns_and_robots() {
    let denied = Robots::Denied { until: day(3) };
    assert_eq!(access(Dns::Resolved, Robots::Allowed), Access::Proceed);
    assert_eq!(access(Dns::Resolved, denied), Access::Blacklist { until: day(3) });
    assert_eq!(access(Dns::Failed, Robots::Allowed), Access::HostBacksOff);
    assert_eq!(access(Dns::Failed, denied), Access::HostBacksOff, "stale robots of a host nobody can find");
}
