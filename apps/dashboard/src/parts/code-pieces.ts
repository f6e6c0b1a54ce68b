/** A piece of a text: code, a time of RFC 3339, or plain. */
export interface Piece {
  readonly is: 'code' | 'time' | 'text'
  readonly text: string
}

const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** The pieces of a text of the control plane, in which code stands between backticks. */
export const piecesOf = (text: string): readonly Piece[] =>
  text
    .split('`')
    .flatMap((piece, at): readonly Piece[] => (at % 2 === 1 ? [{ is: 'code', text: piece }] : withTimes(piece)))
    .filter(({ text: piece }) => piece !== '')

const withTimes = (plain: string): readonly Piece[] =>
  plain.split(TIME).map((text, at) => ({ is: at % 2 === 1 && !Number.isNaN(Date.parse(text)) ? 'time' : 'text', text }))
