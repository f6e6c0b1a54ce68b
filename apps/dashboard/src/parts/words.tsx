import { piecesOf } from './code-pieces.ts'

/** A text of the control plane, in which names stand between backticks. */
export const Words = ({ of }: { readonly of: string }) =>
  piecesOf(of).map(({ isCode, text }, at) =>
    isCode ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
      <code key={at}>
        <bdi>{text}</bdi>
      </code>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
      <bdi key={at}>{text}</bdi>
    ),
  )
