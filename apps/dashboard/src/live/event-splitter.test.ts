import { expect, it } from 'vitest'
import { EventSplitter } from './event-splitter.ts'

it('splits events wherever the text is cut', () => {
  const text = 'retry: 1000\n\n: \n\nevent: row\ndata: {"id":"1"}\n\nevent: gone\ndata: a\ndata: b\n\n'
  const whole = [
    { name: 'row', data: '{"id":"1"}' },
    { name: 'gone', data: 'a\nb' },
  ]
  for (let cut = 0; cut <= text.length; cut++) {
    const splitter = new EventSplitter()
    expect([...splitter.push(text.slice(0, cut)), ...splitter.push(text.slice(cut))]).toEqual(whole)
  }
})

it('gives no event before it is complete', () => {
  const splitter = new EventSplitter()
  expect(splitter.push('event: row\ndata: 1\n')).toEqual([])
  expect(splitter.push('\n')).toEqual([{ name: 'row', data: '1' }])
})
