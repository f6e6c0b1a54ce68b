import { type Piece, piecesOf } from './code-pieces.ts'
import { absoluteTime } from './time-text.ts'

/** A text of the control plane, in which names stand between backticks. Times are shown in the reader's zone. */
export const Words = ({ of }: { readonly of: string }) =>
  piecesOf(of).map((piece, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
    <Shown key={at} piece={piece} />
  ))

function Shown({ piece: { is, text } }: { readonly piece: Piece }) {
  if (is === 'time') return <time dateTime={text}>{absoluteTime(text)}</time>
  const name = <bdi>{text}</bdi>
  return is === 'code' ? <code>{name}</code> : name
}
