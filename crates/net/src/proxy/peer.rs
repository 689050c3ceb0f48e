//! Who is at the other end of a connection on loopback: a port is open to everybody on the machine,
//! and only the browser has business there.

use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt;

/// Whether a process of our own user has the other end. Where the kernel does not tell, it is
/// believed.
pub(super) fn is_own(peer: SocketAddr, local: SocketAddr) -> bool {
    let Ok(own) = std::fs::metadata("/proc/self").map(|process| process.uid()) else { return true };
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(std::fs::read_to_string);
    let told: Vec<String> = tables.into_iter().flatten().collect();
    told.is_empty() || told.iter().any(|table| owner(table, peer, local) == Some(own))
}

/// The user of the socket that has these ends, in a table of the kernel's.
fn owner(table: &str, here: SocketAddr, there: SocketAddr) -> Option<u32> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let ends = (fields.next().and_then(address)?, fields.next().and_then(address)?);
        // State, queues, timer, retransmissions; then the user.
        (ends == (here, there)).then(|| fields.nth(4)?.parse().ok())?
    })
}

/// `0100007F:1F90`: words of the address in the order of this machine's bytes, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip: IpAddr = match address.len() {
        8 => word(0)?.into(),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn b4_a_connection_is_known_by_its_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_accepted, peer) = listener.accept().unwrap();
        assert!(is_own(peer, listener.local_addr().unwrap()));
        // The other way round it is there too, but nobody is at an end that is not.
        assert!(is_own(listener.local_addr().unwrap(), stream.local_addr().unwrap()));
        assert!(!is_own("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap()));
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn b4_tables_of_sockets_are_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n   \
             0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 1 1\n   \
             1: 0000000000000000FFFF00000100007F:C350 0000000000000000FFFF00000100007F:1F90 01 0:0 00:0 0    33 0\n   \
             2: nonsense\n   3: 01:02 03:04\n";
        let [one, other] = ["127.0.0.1:8080", "127.0.0.1:50000"].map(|text| text.parse().unwrap());
        assert_eq!(owner(table, one, other), Some(1000));
        assert_eq!(owner(table, other, one), Some(33));
        assert_eq!(owner(table, one, one), None);
    }
}
