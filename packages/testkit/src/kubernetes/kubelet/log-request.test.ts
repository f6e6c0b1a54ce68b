import { describe, expect, it } from 'vitest'
import { lastLines, readLogRequest } from './log-request.ts'

const read = (path: string) => readLogRequest(new URL(path, 'https://node/'), 100_000)

describe('a request for a log', () => {
  it('names a container, and says since when and how many lines', () => {
    const named = { namespace: 'shop', pod: 'web-1', container: 'web' }
    expect(read('/containerLogs/shop/web-1/web')).toEqual({ ...named, sinceMs: null, tailLines: null })
    expect(read('/containerLogs/shop/web-1/web?sinceTime=1970-01-01T00:00:05Z&follow=false')).toMatchObject({
      sinceMs: 5000,
    })
    expect(read('/containerLogs/shop/web-1/web?sinceSeconds=60&tailLines=3')).toMatchObject({
      sinceMs: 40_000,
      tailLines: 3,
    })
  })

  it('is none with another path, and refused with an option that is not known here', () => {
    expect(read('/containerLogs/shop/web-1')).toBeNull()
    expect(read('/exec/shop/web-1/web')).toBeNull()
    expect(() => read('/containerLogs/shop/web-1/web?follow=true')).toThrow('follow: ')
  })
})

describe('the last lines', () => {
  it('are as many as asked for, or all', () => {
    const text = Buffer.from('a\nb\nc\n')
    expect([0, 1, 2, 3, 9].map((count) => lastLines(text, count).toString())).toEqual([
      '',
      'c\n',
      'b\nc\n',
      'a\nb\nc\n',
      'a\nb\nc\n',
    ])
    expect(lastLines(Buffer.from('a\nb'), 1).toString()).toBe('b')
    expect(lastLines(Buffer.from(''), 1).toString()).toBe('')
  })
})
