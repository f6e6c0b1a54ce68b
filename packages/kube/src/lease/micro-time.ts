/** A time as meta/v1 MicroTime: with six digits, although a Date has only milliseconds. */
export const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z')
