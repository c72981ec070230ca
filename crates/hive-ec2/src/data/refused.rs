//! Actions that clients of what is here may call, and that are refused by name: better than to look like a typing error.

/// Name and why, sorted by name.
pub static REFUSED: &[(&str, &str)] = &[
    ("AssignIpv6Addresses", NO_IPV6),
    ("AttachVpnGateway", NO_VPN),
    ("CreateVpnGateway", NO_VPN),
    ("DeleteVpnGateway", NO_VPN),
    ("DetachVpnGateway", NO_VPN),
    ("DisableVgwRoutePropagation", NO_VGW),
    ("EnableVgwRoutePropagation", NO_VGW),
    ("ModifyAddressAttribute", NO_DNS),
    ("ResetAddressAttribute", NO_DNS),
    ("UnassignIpv6Addresses", NO_IPV6),
];

const NO_VPN: &str = "there are no virtual private gateways here, so nothing propagates routes";
const NO_VGW: &str = "there are no virtual private gateways here: `InvalidGatewayID.NotFound` for every one";
const NO_IPV6: &str = "network interfaces have IPv4 addresses only";
const NO_DNS: &str = "there is no DNS behind elastic addresses";

pub fn why(action: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(name, _)| *name == action).map(|(_, why)| *why)
}
