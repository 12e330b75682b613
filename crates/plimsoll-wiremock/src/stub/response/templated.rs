//! A response whose parts are templates: compiled when its mapping is loaded, rendered for each request.
//!
//! As in WireMock, the values of headers, the text of a body, the name of a body file and the file itself are templates; a body in
//! base64 is not. The length is ours to say, so a `Content-Length` of the stub's is left out.

use crate::reader::Problems;
use crate::reader::body_files::BodyFiles;
use crate::request::Request;
use crate::response::answer::{Answer, AnswerBuilder};
use crate::stub::kept_files::{FileBody, KeptFiles, UnreadFile};
use crate::stub::request_pattern::url_pattern::UrlPattern;
use crate::stub::response::body::Body;
use crate::stub::response::fields::printable;
use crate::stub_id::StubId;
use crate::template::Template;
use crate::template::model::Model;
use jiff::Timestamp;
use plimsoll_base::random::Draw;
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

/// The parts of a response, compiled.
#[derive(Debug, Clone)]
pub struct Templated {
    status: u16,
    reason: Option<String>,
    fields: Vec<(String, Template)>,
    body: Content,
    parameters: Value,
}

/// Where the body comes from.
#[derive(Debug, Clone)]
enum Content {
    Bytes(Vec<u8>),
    Text(Template),
    /// A file whose name depends on the request.
    File {
        name: Template,
        files: KeptFiles,
        is_template: bool,
    },
}

/// A response for one request.
#[derive(Debug)]
pub enum Rendered {
    /// The answer.
    Answer(Answer),
    /// A file must be read first.
    Unread(Box<Unread>),
}

/// An answer that ends with a file which is to be read first. What was rendered and drawn for it stays as it is.
#[derive(Debug, Clone)]
pub struct Unread {
    /// The file.
    pub file: UnreadFile,
    head: AnswerBuilder,
    now: Timestamp,
    /// The rest of the draw.
    draw: Draw,
}

/// Facts of a request that templates see beside itself.
#[derive(Debug)]
pub struct Occasion<'a> {
    /// The time.
    pub now: Timestamp,
    /// Its randomness.
    pub draw: Draw,
    /// Its id, which whoever sees it first draws.
    pub id: &'a OnceCell<StubId>,
}

/// Parts of a response that are equal for every request.
#[derive(Debug)]
pub struct Plain<'a> {
    /// Its status.
    pub status: u16,
    /// The words behind the status.
    pub reason: Option<&'a str>,
    /// Its header fields.
    pub fields: &'a [(String, String)],
    /// Its body.
    pub body: &'a Body,
    /// `transformerParameters`.
    pub parameters: Value,
}

impl Templated {
    /// Compiles the parts of a response; `None` if it goes out as it is written, or if there are problems.
    pub fn compile(
        plain: Plain<'_>,
        files: &BodyFiles,
        pointer: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut depends = matches!(plain.body, Body::FileNamed(_));
        let mut compile = |part: &str, text: &str| {
            let template = Template::read(text, &format!("{pointer}/{part}"), problems)?;
            depends |= !template.gives(text);
            Some(template)
        };
        let fields = plain.fields.iter();
        let fields = fields.filter(|(name, _)| !name.eq_ignore_ascii_case("Content-Length"));
        let fields: Vec<Option<(String, Template)>> = fields
            .map(|(name, value)| {
                let value = compile(&format!("headers/{name}"), value)?;
                Some((name.clone(), value))
            })
            .collect();
        let disabled = plain.parameters.get("disableBodyFileTemplating");
        let file_is_template = disabled != Some(&Value::Bool(true));
        let body = match plain.body {
            Body::Text(text) => compile("body", text).map(Content::Text),
            Body::Bytes(bytes) => Some(Content::Bytes(bytes.clone())),
            Body::File(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) if file_is_template => compile("bodyFileName", text).map(Content::Text),
                _ => Some(Content::Bytes(bytes.clone())),
            },
            Body::FileNamed(name) => compile("bodyFileName", name).map(|name| Content::File {
                name,
                files: KeptFiles::of(files),
                is_template: file_is_template,
            }),
        };
        // Only now, so that every problem is told.
        let fields: Vec<_> = fields.into_iter().collect::<Option<_>>()?;
        let body = body?;
        depends.then(|| Self {
            status: plain.status,
            reason: plain.reason.map(str::to_owned),
            fields,
            body,
            parameters: plain.parameters,
        })
    }

    /// Adds fields that are the same for every request.
    pub fn with_fields(mut self, fields: &[(&str, String)]) -> Self {
        for (name, value) in fields {
            let value = Template::text(value);
            self.fields.push(((*name).to_owned(), value));
        }
        self
    }

    /// The answer to one request; a template that fails gives 500 with the reason, as in WireMock.
    pub fn answer(
        &self,
        request: &Request<'_>,
        url: &UrlPattern,
        occasion: Occasion<'_>,
    ) -> Rendered {
        let model = model(request, url, &self.parameters, occasion);
        self.render(&model)
            .unwrap_or_else(|error| Rendered::Answer(Answer::text(500, &error)))
    }

    /// The answer once its file was read.
    pub fn answer_with(
        &self,
        request: &Request<'_>,
        url: &UrlPattern,
        unread: Unread,
        file: Result<Arc<FileBody>, String>,
        id: &OnceCell<StubId>,
    ) -> Answer {
        let occasion = Occasion {
            now: unread.now,
            draw: unread.draw,
            id,
        };
        let model = model(request, url, &self.parameters, occasion);
        let answer = file.and_then(|file| file.finish(unread.head, &model));
        answer.unwrap_or_else(|error| Answer::text(500, &error))
    }

    fn render<'a>(&'a self, model: &'a Model<'a>) -> Result<Rendered, String> {
        let head = self.head(model)?;
        Ok(Rendered::Answer(match &self.body {
            Content::Bytes(bytes) => head.body(bytes),
            Content::Text(template) => head.body(template.render(model)?.as_bytes()),
            Content::File {
                name,
                files,
                is_template,
            } => {
                let name = name.render(model)?;
                match files.kept(&name)? {
                    Some(file) => file.finish(head, model)?,
                    None => {
                        let file = UnreadFile {
                            files: files.clone(),
                            name,
                            is_template: *is_template,
                        };
                        return Ok(Rendered::Unread(Box::new(Unread {
                            file,
                            head,
                            now: model.now,
                            draw: model.draw.borrow().clone(),
                        })));
                    }
                }
            }
        }))
    }

    /// Everything but the body.
    fn head<'a>(&'a self, model: &'a Model<'a>) -> Result<AnswerBuilder, String> {
        let mut builder = AnswerBuilder::new(self.status, self.reason.as_deref());
        for (name, template) in &self.fields {
            // What a request brings must not end a line of the head.
            let value = printable(&template.render(model)?);
            builder = builder.field(name, &value);
        }
        Ok(builder)
    }
}

impl FileBody {
    /// The answer that ends with this.
    fn finish<'a>(&'a self, head: AnswerBuilder, model: &'a Model<'a>) -> Result<Answer, String> {
        Ok(match self {
            Self::Bytes(bytes) => head.body(bytes),
            Self::Text(template) => head.body(template.render(model)?.as_bytes()),
        })
    }
}

/// The request as templates of a stub with this URL pattern see it.
pub fn model<'a>(
    request: &'a Request<'a>,
    url: &'a UrlPattern,
    parameters: &'a Value,
    occasion: Occasion<'a>,
) -> Model<'a> {
    Model {
        request,
        request_name: "request",
        variables: variables(url, request.path),
        parameters,
        now: occasion.now,
        draw: RefCell::new(occasion.draw),
        id: occasion.id,
    }
}

/// Values of the variables of a path template.
fn variables<'a>(url: &'a UrlPattern, path: &'a str) -> Vec<(&'a str, &'a str)> {
    let UrlPattern::PathTemplate(template) = url else {
        return Vec::new();
    };
    // It has matched, or there would be no answer.
    let values = template.values(path).ok().flatten().unwrap_or_default();
    let names = template.names().iter().map(String::as_str);
    names.zip(values).collect()
}
