/** Whether a client takes JSON. A missing header and an empty one (an old SDK sends it) accept everything. */
export function admitsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    return !refused && ['application/json', 'application/*', '*/*'].includes(type)
  })
}
