import { stripVTControlCharacters } from 'node:util'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Blocks that terminals draw two columns wide (Unicode East Asian Width W and F, and emoji). */
const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Extended_Pictographic}/u

/** Columns the text takes on a terminal; colours take none. */
export function displayWidth(text: string): number {
  let width = 0
  for (const { segment } of segmenter.segment(stripVTControlCharacters(text))) width += WIDE.test(segment) ? 2 : 1
  return width
}
