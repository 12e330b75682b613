// An upstream on Node's own server: says its port, then for every request what it was.
const server = require('node:http').createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.setHeader('X-Seen', `${request.method} ${request.url}`);
    response.end('fine');
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
