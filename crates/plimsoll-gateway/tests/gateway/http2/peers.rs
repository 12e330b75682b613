//! Clients and upstreams of HTTP/2.

use super::*;

/// A client of HTTP/2.
pub struct Client {
    pub sender: SendRequest<Bytes>,
    pub driver: JoinSet<Result<(), h2::Error>>,
}

/// A whole response.
#[derive(Debug)]
pub struct Whole {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
    pub trailers: Option<HeaderMap>,
}

impl Client {
    pub async fn connect(gateway: &Gateway) -> Self {
        let stream = tokio::net::TcpStream::connect(gateway.address("main"));
        Self::over(stream.await.unwrap()).await
    }

    pub async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) -> Self {
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        let mut driver = JoinSet::new();
        driver.spawn_local(connection);
        Self { sender, driver }
    }

    pub async fn begin(
        &mut self,
        request: Request<()>,
        body: &str,
        trailers: HeaderMap,
    ) -> Result<Response<RecvStream>, h2::Error> {
        self.sender.clone().ready().await?;
        let bare = body.is_empty() && trailers.is_empty();
        let (response, mut sending) = self.sender.send_request(request, bare)?;
        if !bare {
            sending.send_data(Bytes::copy_from_slice(body.as_bytes()), trailers.is_empty())?;
        }
        if !trailers.is_empty() {
            sending.send_trailers(trailers)?;
        }
        response.await
    }

    pub async fn ask(&mut self, request: Request<()>, body: &str) -> Result<Whole, h2::Error> {
        whole(self.begin(request, body, HeaderMap::new()).await?).await
    }
}

pub async fn whole(response: Response<RecvStream>) -> Result<Whole, h2::Error> {
    let (parts, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        bytes.extend_from_slice(&data);
        body.flow_control().release_capacity(data.len())?;
    }
    Ok(Whole {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: String::from_utf8(bytes).unwrap(),
        trailers: body.trailers().await?,
    })
}

pub fn get(path: &str) -> Request<()> {
    Request::get(format!("http://a.example{path}"))
        .body(())
        .unwrap()
}

pub fn post(path: &str) -> Request<()> {
    Request::post(format!("http://a.example{path}"))
        .body(())
        .unwrap()
}

pub fn in_runtime<F: Future>(work: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let work = async {
        tokio::time::timeout(PATIENCE, work)
            .await
            .expect("it hangs")
    };
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

/// An upstream of HTTP/2 that returns what it gets: the request's fields as `x-seen-…`, its scheme, its body, its trailers and `grpc-status`. `/trailers-only`
/// gets no body, `/cut` half of one.
pub fn echo_over_http2() -> SocketAddr {
    echo_over(None)
}

/// An upstream of HTTP/2, over TLS if so.
pub fn echo_over(tls: Option<ServerTls>) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let mut tasks = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let tls = tls.clone();
                tasks.spawn_local(async move {
                    match tls {
                        None => echo(stream).await,
                        // A client that does not get through is no matter of this server's.
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                echo(stream).await;
                            }
                        }
                    }
                });
            }
        });
    });
    address
}

async fn echo(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    let mut exchanges = JoinSet::new();
    while let Some(Ok((request, respond))) = connection.accept().await {
        exchanges.spawn_local(answer(request, respond));
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
) -> Option<()> {
    let (parts, mut body) = request.into_parts();
    let mut response = Response::new(());
    for (name, value) in &parts.headers {
        let name = http::HeaderName::try_from(format!("x-seen-{name}")).unwrap();
        response.headers_mut().append(name, value.clone());
    }
    let scheme = parts.uri.scheme_str().unwrap_or_default();
    let scheme = http::HeaderValue::try_from(scheme).unwrap();
    response.headers_mut().insert("x-scheme", scheme);
    let status = http::HeaderValue::from_static("0");
    if parts.uri.path() == "/trailers-only" {
        response.headers_mut().insert("grpc-status", status);
        respond.send_response(response, true).ok()?;
        return None;
    }
    let mut sending = respond.send_response(response, false).ok()?;
    while let Some(data) = body.data().await {
        let data = data.ok()?;
        body.flow_control().release_capacity(data.len()).ok()?;
        sending.send_data(data, false).ok()?;
        if parts.uri.path() == "/cut" {
            tokio::task::yield_now().await;
            sending.send_reset(Reason::INTERNAL_ERROR);
            return None;
        }
    }
    let mut trailers = body.trailers().await.ok()?.unwrap_or_default();
    trailers.insert("grpc-status", status);
    sending.send_trailers(trailers).ok()
}
