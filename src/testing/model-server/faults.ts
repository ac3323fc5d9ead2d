import { gzipSync } from 'node:zlib'
import { accept, type Answer, failure, type Message, page, say, submit, use } from './answers.ts'
import { askedAbout, type ModelRequest } from './request.ts'
import { renderMessage } from './render/whole.ts'
import { acceptingVerdict } from '../sample-verdict.ts'

type Fault = (request: ModelRequest) => Answer

const whole = (request: ModelRequest): string => JSON.stringify(acceptingVerdict(askedAbout(request)))
const acceptAs =
  (changes: Partial<Message>): Fault =>
  (request) => ({ ...accept(request), ...changes })
const beside = (request: ModelRequest, members: string): Answer =>
  page(
    renderMessage(request.dialect, accept(request)).replace('{', () => `{${members}`),
    'application/json',
  )
const gib = 1024 ** 3

/** Faults of the way to the model. An accept hides behind each, so that whoever gets through to it is found out. */
export const transportFaults = {
  'rate limit': () => failure(429),
  'rate limit with Retry-After': () => failure(429, { 'retry-after': '0' }),
  'server error': () => failure(500),
  'bad gateway': () => page('<html>bad gateway</html>', 'text/html', 502),
  'not available': () => failure(503),
  overloaded: () => failure(529),
  'hang before headers': acceptAs({ delivery: { how: 'hang', before: 'headers' } }),
  'hang after headers': acceptAs({ delivery: { how: 'hang', before: 'body' } }),
  trickle: acceptAs({ delivery: { how: 'trickle', everyMs: 20 } }),
  'reset in the middle': acceptAs({ delivery: { how: 'cut', after: 300, by: 'reset' } }),
} satisfies Record<string, Fault>

/** Refusals that asking again would not change. */
export const lastingFaults = {
  'bad request': () => failure(400),
  'key refused': () => failure(401),
  forbidden: () => failure(403),
  'no such model': () => failure(404),
  redirect: (request) => ({ ...accept(request), kind: 'page', status: 307, headers: { location: '/elsewhere' }, body: '' }),
} satisfies Record<string, Fault>

/** Answers that came, and that are no verdict whatever they look like. */
export const answerFaults = {
  'cut in the middle': acceptAs({ delivery: { how: 'cut', after: 300, by: 'end' } }),
  'a gigabyte': acceptAs({ delivery: { how: 'flood', bytes: gib } }),
  'a compressed flood': (request) => ({
    kind: 'page',
    status: 200,
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(' '.repeat(32 * 1024 ** 2) + renderMessage(request.dialect, accept(request))),
  }),
  'wrong content type': (request) => page(renderMessage(request.dialect, accept(request)), 'text/plain'),
  'no content type': (request) => page(renderMessage(request.dialect, accept(request)), undefined),
  'a web page': () => page('<html><body>Sign in to the network</body></html>', 'text/html'),
  'a bare verdict instead of an answer': (request) => page(whole(request), 'application/json'),
  'an empty body': () => page('', 'application/json'),
  'blanks only': () => page('  \n ', 'application/json'),
  'stopped at length': acceptAs({ finish: 'length' }),
  'stopped by a filter': acceptAs({ finish: 'content-filter' }),
  'a refusal with a verdict': acceptAs({ finish: 'refusal' }),
  'a refusal': () => say('I cannot help with that.', 'refusal'),
  'an unknown finish': acceptAs({ finish: 'unknown' }),
  'no finish': acceptAs({ finish: 'missing' }),
  'text stopped at length': (request) => say(whole(request), 'length'),
  'a key twice': (request) => submit(whole(request).replace('"verdict":"accept"', '"verdict":"reject","verdict":"accept"')),
  'a key twice, escaped': (request) => submit(whole(request).replace('"verdict":"accept"', '"verdict":"reject","\\u0076erdict":"accept"')),
  'two verdicts': (request) => submit(whole(request).replace('"accept"', '"reject"'), whole(request)),
  'a verdict and an empty one': (request) => submit('{}', whole(request)),
  'a verdict and another in the text': (request) => ({ ...submit(whole(request)), text: whole(request).replace('"accept"', '"reject"') }),
  'another tool': () => use('approve', { verdict: 'accept' }),
  'arguments that are no JSON': (request) => submit(whole(request).slice(0, -1)),
  'arguments in a list': (request) => submit(`[${whole(request)}]`),
  'a prototype': (request) => submit(`{"__proto__":${whole(request)}}`),
  'a prototype beside': (request) => submit(whole(request).replace('{', '{"__proto__":{},')),
  'an error beside it': (request) => beside(request, '"error":{"message":"overloaded"},'),
  'an error beside nothing wrong': (request) => beside(request, '"error":null,"error":"overloaded",'),
  'a part of an answer': (request) => page(renderMessage(request.dialect, accept(request)), 'application/json', 206),
  'an answer from somewhere on the way': (request) => page(renderMessage(request.dialect, accept(request)), 'application/json', 203),
  'a verdict while it still reads': (request) => ({
    kind: 'message',
    calls: [
      { name: 'submit_verdict', args: whole(request) },
      { name: 'read_file', args: '{"path":"core.txt"}' },
    ],
  }),
  'another nonce': (request) => accept(request, { nonce: 'another-nonce' }),
  'prose around the verdict': (request) => say(`Here is my verdict:\n${whole(request)}`),
  'no content at all': () => ({ kind: 'message' }),
} satisfies Record<string, Fault>
