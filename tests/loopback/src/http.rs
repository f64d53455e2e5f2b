//! The little HTTP/1.1 server behind every part.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::Error;

/// A request, read to its end.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) remote: SocketAddr,
}

impl Received {
    /// A header's text, if there is one and it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// `None` closes the connection without an answer.
pub(crate) type Reply = Option<Response<Full<Bytes>>>;

/// A server on a port of its own; dropping it closes the port and every connection.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    task: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves `handler` on 127.0.0.1. Its future is dropped when the client goes away.
pub(crate) async fn serve<H, F>(handler: H) -> Result<Server, Error>
where
    H: Fn(Received) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    let doing = "listening on 127.0.0.1";
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(Error::io(doing))?;
    let address = listener.local_addr().map_err(Error::io(doing))?;
    let task = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                Ok((stream, remote)) = listener.accept() => {
                    connections.spawn(connection(stream, remote, handler.clone()));
                }
                Some(_) = connections.join_next() => {}
            }
        }
    });
    Ok(Server { address, task: task.abort_handle() })
}

async fn connection<H, F>(stream: TcpStream, remote: SocketAddr, handler: H)
where
    H: Fn(Received) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    // Only a matter of latency.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let handler = handler.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(|_| "the client left")?.to_bytes();
            let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
            handler(Received { method: head.method, path, headers: head.headers, body, remote })
                .await
                .ok_or("closed without an answer, as asked")
        }
    });
    // An error is a client that left or a connection that was to be cut: nothing to report.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// An answer with a JSON body.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Sends one request over a connection of its own and reads the answer to its end.
pub(crate) async fn forward(
    upstream: &str,
    request: Request<Full<Bytes>>,
) -> Result<Response<Full<Bytes>>, Box<dyn std::error::Error + Send + Sync>> {
    let stream = TcpStream::connect(upstream).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let exchange = async {
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok::<_, hyper::Error>(Response::from_parts(head, Full::new(body)))
    };
    tokio::pin!(exchange);
    let response = tokio::select! {
        response = &mut exchange => response?,
        ended = connection => { ended?; exchange.await? }
    };
    Ok(response)
}
