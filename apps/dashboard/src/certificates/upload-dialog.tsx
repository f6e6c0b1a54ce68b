import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { createCertificate } from '../api/certificates.ts'
import { Problem, reasonAtField } from '../api/problem.ts'
import { keys } from '../api/query-keys.ts'
import { useAnnounce } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActions } from '../parts/dialog.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { TextInput } from '../parts/text-input.tsx'
import styles from './certificates-page.module.css'

const FIELDS = ['name', 'chain', 'key'] as const
type Field = (typeof FIELDS)[number]

/** Stores a certificate. Its key is sent once, and nowhere kept by the page. */
export function UploadDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const announce = useAnnounce()
  const [typed, setTyped] = useState({ name: '', chain: '', key: '' })
  const upload = useMutation({
    mutationFn: createCertificate,
    onSuccess: async ({ name }) => {
      announce(`${name} is stored.`)
      onClose()
      await client.invalidateQueries({ queryKey: keys.of('certificate') })
    },
  })
  const { error } = upload
  const errorOf = (field: Field): string | null =>
    error instanceof Problem && error.fields.includes(field) ? reasonAtField(error) : null
  const isElsewhere = error !== null && FIELDS.every((field) => errorOf(field) === null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const { name, chain, key } = typed
    upload.mutate({ name, chain, ...(key.trim() !== '' && { key }) })
  }
  return (
    <Dialog title="Upload certificate" isOpen isWide onClose={onClose}>
      <form className={styles.fields} onSubmit={submit}>
        <TextInput
          label="Name"
          value={typed.name}
          onChange={(name) => setTyped({ ...typed, name })}
          error={errorOf('name')}
          autoFocus
        />
        <TextInput
          label="Certificate and chain (PEM)"
          rows={7}
          value={typed.chain}
          onChange={(chain) => setTyped({ ...typed, chain })}
          error={errorOf('chain')}
          hint="The certificate itself first, then those that issued it."
        />
        <TextInput
          label="Private key (PEM)"
          rows={5}
          value={typed.key}
          onChange={(key) => setTyped({ ...typed, key })}
          error={errorOf('key')}
          autoComplete="off"
          hint="It is sealed when it arrives, and never shown again. Leave it empty for certificates of authorities."
        />
        {isElsewhere && <ProblemBox error={error} />}
        <DialogActions>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={upload.isPending} isDisabled={typed.chain.trim() === ''}>
            Upload
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
