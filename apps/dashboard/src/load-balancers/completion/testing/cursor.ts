/** A text with `^` where the cursor is, as text and offset. */
export const atCursor = (marked: string): readonly [string, number] => {
  const offset = marked.indexOf('^')
  return [marked.slice(0, offset) + marked.slice(offset + 1), offset]
}
