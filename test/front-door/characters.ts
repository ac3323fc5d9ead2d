/** Characters that a terminal obeys, or that change the order in which others are read. */
export function obeyed(text: string): string[] {
  return [...text].filter((character) => {
    const code = character.codePointAt(0) ?? 0
    return (code < 0x20 && code !== 0x0a && code !== 0x09) || (code >= 0x7f && code <= 0x9f) || isDirection(code)
  })
}

function isDirection(code: number): boolean {
  return code === 0x61c || (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f)
}
