/**
 * A JSON value as Python's `str()` prints it, because Octavia's faults quote values that way (`None`, `['a']`). Cut at
 * 255 characters, so that a fault does not repeat a whole body.
 */
export function pythonText(value: unknown): string {
  const text = typeof value === 'string' ? value : pythonRepr(value)
  return text.length <= 255 ? text : `${text.slice(0, 255)}...`
}

function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, field]) => `${quoted(key)}: ${pythonRepr(field)}`)
      .join(', ')}}`
  return String(value)
}

const quoted = (text: string): string => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  return `${quote}${text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n')}${quote}`
}
