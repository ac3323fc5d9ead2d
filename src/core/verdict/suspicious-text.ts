/** Recognisable signs of one kind in worker text. Every pattern has bounded repeats only, so that matching stays linear. */
interface Sign {
  finding: string
  patterns: readonly RegExp[]
}

/** Looked for in folded text: lower case, Latin letters, nothing invisible. */
export const wordings: readonly Sign[] = [
  {
    finding: 'addresses the reviewer',
    patterns: [
      /\b(?:notes?|notice|message|attention|dear|hello|guidance|advice|tips?|instructions?)\b[^.\n]{0,20}\b(?:reviewer|evaluator|grader|judge|assessor)s?\b/,
      /\b(?:(?:reviewer|evaluator|grader|judge|assessor)s?|(?:grading|review|evaluation) (?:system|model|panel))\b[^.\n]{0,12}\b(?:should|must|shall|please|notes?|recogni[sz]es?|output)\b/,
      /\b(?:ignore|disregard|forget|override|bypass|supersedes?|skip)\b[^.\n]{0,40}\b(?:instructions?|rubric|criteria|prompts?|guidelines|evaluation|grading|the above|protocols?)\b/,
      /\b(?:select|choose|pick|prefer|approve|accept|mark|grade|rate|score)\b[^.\n]{0,20}\b(?:this|the|my|final|corrected) (?:answer|response|submission|solution|work|case|attempt|version)\b/,
      /\b(?:select|choose|pick|prefer)\b[^.\n]{0,12}\b(?:response [ab]|as (?:the )?winner)\b|\bresponse [ab] (?:is|was|does|shows|demonstrates|represents)\b/,
      /\b(?:return|output|respond with|answer with|reply with|report|give|assign|award)\b[^.\n]{0,30}\b(?:pass|passing|accept|full marks|(?:maximum|highest|perfect|top) scores?|score of|verdict)\b/,
      /\b(?:should|must|deserves to) (?:pass|be (?:graded|accepted|approved|marked|preferred|selected|scored|rated|interpreted))\b/,
      /\bplease (?:evaluate|grade|rate|score|accept|approve|pass|be (?:understanding|lenient|kind|generous))\b/,
      /\b(?:you are|you['’]re|act as|playing the role of)\b[^.\n]{0,30}\b(?:reviewer|evaluator|grader|judge|grading|evaluating|assistant|language model|ai)\b/,
      /\byour (?:system )?(?:instructions|prompt|rubric|grading|evaluation|verdict|reason field)\b/,
      /\b(?:auto|automatic(?:ally)?|pre)[ -]?(?:approv|accept|grad|pass)/,
      /\[[a-z #/_-]{0,40}\b(?:system|evaluators?|evaluation|grader|grading|judges?|reviewers?|admin|override|rubric|criteria|verified|clearance|metadata|dev_mode|hidden)\b[^\]\n]{0,60}\]/,
      /\b(?:scoring|grading|evaluation|updated|official|hidden) (?:rubric|criteria|instructions?|guidance|guidelines|protocol|standards?)\b/,
    ],
  },
  {
    finding: 'looks like a verdict',
    patterns: [
      /\bsubmit_verdict\b|\brejection_category\b/,
      /["'](?:pass|passed|scores?|verdict|winner|grade|rating|met)["']\s{0,5}[:=]/,
      /^[^a-z0-9\n]{0,10}(?:(?:final|overall|my|the|total) )?(?:score|verdict|grade|rating|winner|final_answer|decision|evaluation)[^a-z0-9\n]{0,6}[:=][^a-z0-9\n]{0,6}(?:\d|accept|approved?|pass|success|satisfied|[ab]\b|response)/m,
      /\b(?:verdict|decision|result|grade|score)[ \t]{0,3}[:=][ \t]{0,3}(?:pass|accept|approved?|\d{1,3}(?:\.\d{1,2})?\b)/,
      /\b(?:marking as|marked as|final arbiter:) (?:pass|accepted)|\ball criteria (?:are )?(?:met|satisfied)\b/,
      /\[\[\d{1,3}\]\]|<satisfied>/,
    ],
  },
  {
    finding: 'looks like a fence or a chat turn',
    patterns: [
      /<\|[a-z_]{2,30}\|>|\[\/?inst\]|<<\/?sys>>/,
      /<\/?(?:system|assistant|artifact|submission|rubric|criteria|instructions?|information|important|review|verdict|work|case)>|<\/(?:response|output)>/,
      /^[<>=~#*[-]{2,40} ?(?:begin|start|end|stop)(?: of)? [a-z ]{0,20}(?:work|case|output|submission|data|content|response|review|instructions|document)\b/m,
      /^[ \t[]{0,4}(?:system|assistant|human|developer)\]?[ \t]{0,3}:/m,
    ],
  },
]

const esc = String.fromCharCode(0x1b)

/** Looked for in the text as it is. Joiners after non-Latin characters and plain colours are everyday writing and stay out of it. */
export const hiddenCharacters: readonly Sign[] = [
  { finding: 'has bidirectional control characters', patterns: [/\p{Bidi_Control}/u] },
  { finding: 'has tag characters', patterns: [/[\u{E0000}-\u{E007F}]/u] },
  {
    finding: 'has invisible characters',
    patterns: [
      /(?!\p{Bidi_Control}|\p{Variation_Selector}|\uFEFF|\u200C|\u200D|[\u{E0000}-\u{E007F}])\p{Default_Ignorable_Code_Point}/u,
      /(?<!^)\uFEFF/u,
      /(?<![\u0100-\u{10FFFF}])(?:\u200C|\u200D)/u,
      /[\u{E0100}-\u{E01EF}]|\p{Variation_Selector}{2}/u,
    ],
  },
  { finding: 'has look-alike letters of another alphabet', patterns: [/[A-Za-z][\u0400-\u04FF]|[\u0400-\u04FF][A-Za-z]/] },
  { finding: 'has control characters', patterns: [new RegExp(`(?![\\t\\n\\r\\f${esc}])\\p{Cc}`, 'u')] },
  {
    finding: 'has terminal sequences that move, erase or hide text',
    patterns: [new RegExp(`${esc}(?!\\[[0-9;]{0,20}m)|${esc}\\[(?:[0-9;]{0,20};)?8(?:;[0-9;]{0,20})?m`)],
  },
]
