export interface PlaceholderRule {
  /** What it is called in reports. */
  name: string
  /** Every quantifier is bounded, so that a long line takes time in proportion to its length. */
  pattern: RegExp
  /** Endings of the files that it is for; without it, all. */
  files?: readonly string[]
  /** Lines that it reports, and lines that look alike and are fine. Both are tests. */
  finds: readonly string[]
  leaves: readonly string[]
}

/** Files that people read as they are; elsewhere double braces and brackets are the language's own. */
const prose = ['.html', '.htm', '.xhtml', '.md', '.markdown', '.txt', '.rst', '.adoc']

/** What unfinished work leaves behind. A rule that is wrong about a text is answered with `allow`. */
export const placeholderRules: readonly PlaceholderRule[] = [
  {
    name: 'unfinished marker',
    pattern: /\b(?:TODO|FIXME|XXX)\b/,
    finds: ['// TODO write this', 'TODO', '<!-- FIXME: colours -->', 'Price: XXX EUR', 'x = 1 # TODO(ann): more'],
    leaves: ['const TODO_LIST = []', 'a todo app', 'XXXL', 'mastodon', 'TODOS'],
  },
  {
    name: 'unfinished marker',
    pattern: /(?:\/\/|\/\*|<!--|#|--)\s{0,4}(?:todo|fixme|xxx|hack)\s{0,2}[:(]/i,
    finds: ['// todo: later', '# fixme(bob) broken', '/* Hack: works for now */', '-- todo: index'],
    leaves: ['# Todo app', '{ todo: [] }', 'it is a hack: a good one', '// todoist: an app'],
  },
  {
    name: 'unfinished marker',
    pattern: /\bHACK\b\s{0,2}[:(]|(?:\/\/|\/\*|<!--|#)\s{0,4}HACK\b/,
    finds: ['// HACK around the cache', 'HACK: do not ship', '# HACK(ann)'],
    leaves: ['HACK THE PLANET', 'LIFEHACK: sleep', 'hackathon'],
  },
  {
    name: 'to be said',
    pattern: /\b(?:TBD|TBA|T\.B\.D\.)(?![\w-])|\bto be announced\b/,
    finds: ['Opening hours: TBD', 'Speaker: TBA.', 'Date: to be announced'],
    leaves: ['TBDEV', 'the values are to be read', 'tbd', 'TBA-120'],
  },
  {
    name: 'filler text',
    pattern: /\blorem\s{1,10}ipsum\b|\bdolor\s{1,10}sit\s{1,10}amet\b|\bconsectetur\s{1,10}adipi[sc]{2}ing\b/i,
    finds: ['<p>Lorem ipsum dolor sit amet', 'dolor  sit amet', 'Consectetur adipiscing elit', 'LOREM IPSUM'],
    leaves: ['the lorem generator', 'dolor', 'ipsum lorem'],
  },
  {
    name: 'text to be filled in',
    pattern:
      /\byour\s{1,4}(?:[\w-]{1,20}\s{1,4}){0,2}(?:text|title|name|content|copy|logo|image|photo|picture|description|company|heading|headline|tagline|slogan|link|url|ad)\s{1,4}(?:goes\s{1,4})?here\b/i,
    finds: ['Your text here', '<h1>Your Company Name Here</h1>', 'your catchy headline goes here', 'YOUR LOGO HERE'],
    leaves: ['Send us your text', 'your text is always here', 'Enter your email here', 'you are here'],
  },
  {
    name: 'text to be filled in',
    pattern: /\binsert\s{1,4}(?:[^\s]{1,30}\s{1,4}){1,4}here\b|[[<({]\s?insert\s(?!into\b|or\b|overwrite\b)[^\])}>\n]{1,60}[\])}>]/i,
    finds: ['Insert your copy here', 'insert image here', '[Insert date]', '<insert name of client>', '(insert quote from the founder)'],
    leaves: ['(INSERT INTO notes VALUES (1))', 'Insert the coin.', 'list.insert(0, x)', 'press Insert', '[inserted]'],
  },
  {
    name: 'text to be filled in',
    pattern: /\b(?:text|content|copy|title|headline|description|image|logo|code|logic|implementation)\s{1,4}goes\s{1,4}here\b/i,
    finds: ['Main content goes here', '// implementation goes here', 'Description Goes Here'],
    leaves: ['the train goes here and there', 'content goes to the left'],
  },
  {
    name: 'promise instead of content',
    pattern:
      /\bcoming\s{1,4}soon\b|\b(?:page|site|website|section)\s{1,4}(?:is\s{1,4})?(?:currently\s{1,4})?under\s{1,4}construction\b|\bwatch\s{1,4}this\s{1,4}space\b/i,
    finds: ['Coming soon!', 'This page is currently under construction', 'Watch this space'],
    leaves: ['coming back sooner', 'a bridge under construction', 'he is coming'],
  },
  {
    name: 'unfilled field',
    pattern: /(?<![$=\\{])\{\{[-~]?\s{0,4}[A-Za-z_][\w .|-]{0,60}?\s{0,4}[-~]?\}\}(?!\})/,
    files: prose,
    finds: ['<p>Dear {{ name }},</p>', '{{company}}', 'Hello {{user.first_name}}'],
    leaves: [['$', '{{ github.token }}'].join(''), 'style={{ color: 1 }}', '{ {a} }', '{{{a}}}'],
  },
  {
    name: 'unfilled field',
    pattern:
      /\[(?:your|insert|company|client|customer|product|project|recipient|author|first|last|full)\s(?:name|company|title|date|email|address|city|phone|number|address|role|position|logo|website|url|signature)[\w '/-]{0,40}\](?![([:])/i,
    finds: ['Dear [Your Name],', '[Company Name] is great', 'Kind regards, [your name / title]', '[Product name]'],
    leaves: ['[Your account](/account)', '[your name](mailto:a@b.example)', '[name]', 'a[first]', '[Your Name]: https://a.example'],
  },
  {
    name: 'unfilled field',
    pattern:
      /\bYOUR[_-][A-Z][A-Z0-9_-]{1,60}\b|<your[-_ ](?:name|key|token|company|email|domain|password|username|project|text)[\w -]{0,30}>/,
    finds: ['key = "YOUR_API_KEY"', 'https://YOUR-DOMAIN/', '<your-name>', '<your token here>'],
    leaves: ['yourName', 'IN YOUR TIME', 'your_key', '<yourcomponent>'],
  },
  {
    name: 'placeholder',
    pattern:
      /\bplaceholder\s{1,4}(?:text|image|images|content|copy|title|headline|logo|graphic|page)\b|\b(?:is|as|just|only)\s{1,4}a\s{1,4}(?:mere\s{1,4})?placeholder\b|>\s{0,4}placeholder\s{0,4}<|[[(]\s?placeholder\s?[\])]|^\s{0,8}placeholder\.?\s{0,8}$/i,
    finds: [
      '<p>Placeholder</p>',
      'This is a placeholder.',
      'placeholder image',
      '[placeholder]',
      'Placeholder',
      'replace this placeholder text',
    ],
    leaves: [
      '<input placeholder="Search">',
      '::placeholder { color: red }',
      'placeholder: string',
      'showPlaceholder()',
      'fill(placeholder, x)',
    ],
  },
  {
    name: 'placeholder',
    pattern:
      /\b(?:via\.placeholder\.com|placehold\.(?:it|co)|placekitten\.com|picsum\.photos|loremflickr\.com|dummyimage\.com|placeimg\.com)\b/i,
    finds: ['<img src="https://via.placeholder.com/150">', 'https://placehold.co/600x400', 'https://picsum.photos/200'],
    leaves: ['placeholder.com', 'https://example.com/photos'],
  },
  {
    name: 'value to be changed',
    pattern: /\bchange[-_]?me\b(?!\s{0,2}\()/i,
    finds: ['password: changeme', 'SECRET=change-me', 'CHANGE_ME'],
    leaves: ['they change me', 'exchange_menu', 'changeMe()'],
  },
  {
    name: 'unfinished code',
    pattern: /\bnot\s{1,4}yet\s{1,4}implemented\b|\bnot\s{1,4}implemented\s{1,4}yet\b|\bimplement\s{1,4}me\b/i,
    finds: ['throw new Error("not implemented yet")', '// Not yet implemented', 'implement me'],
    leaves: ['501 Not Implemented', 'we implement measures', 'implemented'],
  },
]
