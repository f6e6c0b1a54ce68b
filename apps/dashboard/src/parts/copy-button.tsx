import { useEffect, useState } from 'react'
import { useAnnounce } from './announcer.tsx'
import { Button } from './button.tsx'

/** Copies a text. It says that it did, also to screen readers. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, setCopied] = useState(false)
  const announce = useAnnounce()
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async (): Promise<void> => {
    const done = await toClipboard(text)
    setCopied(done)
    announce(done ? `Copied ${what}.` : 'The browser did not allow copying: select the text.')
  }
  return (
    <Button variant="quiet" aria-label={`Copy ${what}`} onPress={() => void copy()}>
      {copied ? 'Copied' : 'Copy'}
    </Button>
  )
}

async function toClipboard(text: string): Promise<boolean> {
  try {
    // Absent on plain http beyond loopback, and refused without the user's permission.
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
