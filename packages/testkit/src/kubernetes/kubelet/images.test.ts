import { describe, expect, it } from 'vitest'
import { programOf } from './images.ts'

describe('the program of an image', () => {
  const images = { 'registry:5000/echo': ['echo'], 'registry:5000/echo:v2': ['echo2'] }

  it('is that of its whole name, or of its name without a tag', () => {
    expect(programOf(images, 'registry:5000/echo:v2')).toEqual(['echo2'])
    expect(programOf(images, 'registry:5000/echo:v1')).toEqual(['echo'])
    expect(programOf(images, 'registry:5000/echo')).toEqual(['echo'])
    expect(programOf(images, `registry:5000/echo:v1@sha256:${'0'.repeat(64)}`)).toEqual(['echo'])
  })

  it('is missing for every other image', () => {
    expect(programOf(images, 'registry:5000/other:v1')).toBeNull()
    expect(programOf(images, 'echo')).toBeNull()
  })
})
