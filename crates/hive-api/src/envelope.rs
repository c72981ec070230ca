//! What surrounds an answer: EC2 and STS wrap results and errors differently, and clients parse exactly that.

use crate::error::ApiError;
use crate::xml::escape;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    Ec2,
    Sts,
}

impl Service {
    /// By the service in a request's credential scope.
    pub fn from_scope(name: &str) -> Option<Service> {
        match name {
            "ec2" => Some(Service::Ec2),
            "sts" => Some(Service::Sts),
            _ => None,
        }
    }

    /// For requests that failed before they had a scope: STS requests carry their own API version.
    pub fn from_version(version: &str) -> Service {
        if version == "2011-06-15" { Service::Sts } else { Service::Ec2 }
    }

    /// What stands before and behind the content, which may be long and need not be copied for it.
    pub fn success(self, action: &str, request_id: &str) -> (String, String) {
        match self {
            Service::Ec2 => (
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{action}Response \
                     xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>{request_id}</requestId>"
                ),
                format!("</{action}Response>"),
            ),
            Service::Sts => (
                format!(
                    "<{action}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{action}Result>"
                ),
                format!(
                    "</{action}Result><ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata>\
                     </{action}Response>"
                ),
            ),
        }
    }

    pub fn error(self, request_id: &str, error: &ApiError) -> String {
        let (mut code, mut message) = (String::new(), String::new());
        escape(&error.code, &mut code);
        escape(&error.message, &mut message);
        match self {
            Service::Ec2 => format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>{code}</Code>\
                 <Message>{message}</Message></Error></Errors><RequestID>{request_id}</RequestID></Response>"
            ),
            Service::Sts => format!(
                "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>{}</Type>\
                 <Code>{code}</Code><Message>{message}</Message></Error><RequestId>{request_id}</RequestId>\
                 </ErrorResponse>",
                if error.status < 500 { "Sender" } else { "Receiver" }
            ),
        }
    }
}
