import { describe, expect, it } from 'vitest'
import { imagesOf } from './images.ts'

describe('images of pods', () => {
  it('are programs by name', () => {
    expect(imagesOf(['registry:5000/echo:v1=/bin/sh', `node=${process.execPath}`])).toEqual({
      'registry:5000/echo:v1': ['/bin/sh'],
      node: [process.execPath],
    })
    expect(imagesOf([])).toEqual({})
  })

  it('are refused without a name, and without a program that could run', () => {
    for (const text of ['echo', '=/bin/sh', 'echo='])
      expect(() => imagesOf([text])).toThrow(`--image ${text}: is not NAME=PROGRAM`)
    for (const program of ['/missing', '/bin', '/etc/passwd'])
      expect(() => imagesOf([`echo=${program}`])).toThrow(`--image echo: ${program} is not a program`)
  })
})
