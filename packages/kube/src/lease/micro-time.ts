/** meta/v1 MicroTime. A Date has milliseconds; the server wants six digits. */
export const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z')
