/**
 * Puts the cursor at the end of a line, and the line into the middle of the text area.
 * @param area must not wrap lines
 * @param line counts from 1
 */
export function goToLine(area: HTMLTextAreaElement, line: number): void {
  const end = area.value.split('\n').slice(0, line).join('\n').length
  area.focus()
  area.setSelectionRange(end, end)
  const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight)
  area.scrollTop = (line - 0.5) * lineHeight - area.clientHeight / 2
}
