import { useState } from 'react'

/** A value, or what it was before where it is undefined now. @param value the same object while nothing changes */
export function useLast<T>(value: T | undefined, first: T): T {
  const [last, setLast] = useState(value ?? first)
  if (value === undefined || value === last) return last
  setLast(value)
  return value
}
