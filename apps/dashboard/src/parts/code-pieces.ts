/** A piece of a text: code, or plain. */
export interface Piece {
  readonly isCode: boolean
  readonly text: string
}

/** The pieces of a text in which code stands between backticks. */
export const piecesOf = (text: string): readonly Piece[] =>
  text
    .split('`')
    .map((piece, at) => ({ isCode: at % 2 === 1, text: piece }))
    .filter(({ text: piece }) => piece !== '')
