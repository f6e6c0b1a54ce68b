/**
 * Whether a client accepts JSON. A missing header accepts everything, and so does an empty one, which an old SDK sends.
 */
export function admitsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    return !refused && ['application/json', 'application/*', '*/*'].includes(type)
  })
}
