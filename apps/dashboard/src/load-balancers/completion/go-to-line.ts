/** Puts the cursor at the end of a line, counted from 1, and the line into the middle of the text area, which must not wrap lines. */
export function goToLine(area: HTMLTextAreaElement, line: number): void {
  const end = area.value.split('\n').slice(0, line).join('\n').length
  area.focus()
  area.setSelectionRange(end, end)
  const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight)
  area.scrollTop = (line - 0.5) * lineHeight - area.clientHeight / 2
}
