/** What decides where a text breaks and how large it is. */
const COPIED = [
  ...['font-family', 'font-size', 'font-weight', 'font-style', 'line-height', 'letter-spacing', 'tab-size'],
  ...['white-space', 'overflow-wrap'],
  ...['padding-top', 'padding-right', 'padding-bottom', 'padding-left', 'direction'],
] as const

/** Where a line stands at the cursor, in pixels from the upper left corner of what is around the text area. */
export interface CaretPlace {
  /** The upper edge of the line. */
  readonly top: number
  /** The lower edge. */
  readonly bottom: number
  readonly left: number
  /** Whether there is more room above it in the window than below. */
  readonly isLow: boolean
}

/** Finds a place of a text area, which browsers do not tell: a copy of the text that nobody sees is measured. */
export function caretPlace(area: HTMLTextAreaElement, offset: number): CaretPlace {
  const copy = document.createElement('div')
  const style = getComputedStyle(area)
  for (const name of COPIED) copy.style.setProperty(name, style.getPropertyValue(name))
  Object.assign(copy.style, {
    ...{ position: 'absolute', visibility: 'hidden', insetBlockStart: '0', inlineSize: `${area.clientWidth}px` },
  })
  const mark = document.createElement('span')
  mark.textContent = '\u200b'
  copy.append(area.value.slice(0, offset), mark)
  document.body.append(copy)
  const inText = mark.offsetTop - area.scrollTop
  const top = area.offsetTop + inText
  const middle = area.getBoundingClientRect().top + inText
  const place = {
    ...{ top, bottom: top + mark.offsetHeight, left: area.offsetLeft + mark.offsetLeft - area.scrollLeft },
    isLow: middle > window.innerHeight / 2,
  }
  copy.remove()
  return place
}
