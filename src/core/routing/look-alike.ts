/** Lower-case Cyrillic and Greek letters (and dotless i) that a reader takes for the Latin letter beside them. */
const latinTwins: Record<string, string> = {
  а: 'a',
  в: 'b',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  һ: 'h',
  і: 'i',
  ı: 'i',
  ј: 'j',
  к: 'k',
  ӏ: 'l',
  м: 'm',
  н: 'h',
  о: 'o',
  р: 'p',
  ԛ: 'q',
  ѕ: 's',
  т: 't',
  у: 'y',
  х: 'x',
  ԝ: 'w',
  α: 'a',
  ε: 'e',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  χ: 'x',
}
const twins = new RegExp(`[${Object.keys(latinTwins).join('')}]`, 'g')

/** Characters that show nothing: format controls, joiners, variation selectors, tags, fillers. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/**
 * One text for texts that look alike: compatibility forms unified, invisible characters dropped, lower case, look-alike letters made Latin.
 * For recognising only: what it gives is never shown, stored as content, or judged.
 */
export function foldLookAlikes(text: string): string {
  return text
    .normalize('NFKC')
    .replace(invisible, '')
    .toLowerCase()
    .replace(twins, (letter) => latinTwins[letter] ?? letter)
}

/** What two agents' names have in common when a person would read them as one name. */
export function nameKey(name: string): string {
  return foldLookAlikes(name).replace(/\s+/gu, '')
}

/** Standing text such as instructions, so that white space and invisible characters make no second identity. */
export function normalText(text: string): string {
  return text.normalize('NFKC').replace(invisible, '').replace(/\s+/gu, ' ').trim()
}
