/** Minutes in a text such as 90m, 2h or 1h30m. */
export function minutesOf(text) {
  const [, hours] = /^(\d+)h/.exec(text) ?? []
  const [, minutes] = /^(\d+)m$/.exec(text) ?? []
  return Number(hours ?? 0) * 60 + Number(minutes ?? 0)
}
