import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { stringify } from 'yaml'
import type { Answer } from '../../api/ask.ts'
import { readLoadBalancer, replaceLoadBalancer, type ShownLoadBalancer } from '../../api/load-balancers.ts'
import { previewReplacement } from '../../api/previews.ts'
import { Problem } from '../../api/problem.ts'
import { keys } from '../../api/query-keys.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ProblemBox } from '../../parts/problem-box.tsx'
import { CompletingText } from '../completion/completing-text.tsx'
import { PreviewDialog } from '../preview/preview-dialog.tsx'
import { draftOf } from '../text/draft-of.ts'
import { type CheckedText, checkedText, lineOfField } from './checked-text.ts'
import { Conflict } from './conflict.tsx'
import { type DocumentPool, poolsOf } from './document-pools.ts'
import styles from './edit-view.module.css'
import { readAfterConflict } from './read-after-conflict.ts'
import { useNameable } from './use-nameable.ts'
import { useSettled } from './use-settled.ts'

/** The document of one load balancer, to be changed as YAML. */
export function EditView({ id }: { readonly id: string }) {
  const read = useQuery({ queryKey: keys.loadBalancer(id), queryFn: ({ signal }) => readLoadBalancer(id, signal) })
  return <Loaded query={read}>{(now) => <Editor now={now} />}</Loaded>
}

/** To check a pool of ten thousand members takes a second. Longer texts, in characters, are checked when nothing is typed. */
const LONG_TEXT = 50_000
const CHECK_AFTER_MS = 400
/** What the server sent has no fault, and there is nothing to save. */
const AS_READ: CheckedText = { document: undefined, fault: null }

/** A version of the document, as text. */
interface Version {
  readonly text: string
  readonly pools: readonly DocumentPool[]
  readonly etag: string | null
}

const versionOf = ({ body, etag }: Answer<ShownLoadBalancer>): Version => ({
  text: stringify(draftOf(body)),
  pools: poolsOf(body),
  etag,
})

/** What is typed stays whatever happens: a refusal, a change by somebody else, the session's end. */
function Editor({ now }: { readonly now: Answer<ShownLoadBalancer> }) {
  const current = useMemo(() => versionOf(now), [now])
  const [base, setBase] = useState(current)
  const [text, setText] = useState(current.text)
  const isTouched = text !== base.text
  const isOld = current.etag !== base.etag && current.text !== base.text
  const settled = useSettled(text, CHECK_AFTER_MS)
  const checkable = text.length > LONG_TEXT ? settled : text
  const checked = useMemo(
    () => (checkable === base.text ? AS_READ : checkedText(checkable, base.pools)),
    [checkable, base],
  )
  const pools = useMemo(
    () => (checked === AS_READ ? base.pools : checked.document && poolsOf(checked.document)),
    [checked, base],
  )
  const nameable = useNameable(now.body.projectId, pools)
  const start = (from: Version): void => {
    setBase(from)
    setText(from.text)
  }
  useEffect(() => {
    if (isTouched || current.etag === base.etag) return
    setBase(current)
    setText(current.text)
  }, [current, base, isTouched])
  useBlocker({
    shouldBlockFn: ({ current: here, next }) =>
      isTouched && here.pathname !== next.pathname && !window.confirm('Leave without saving what you typed?'),
    enableBeforeUnload: isTouched,
  })
  const saving = useSaving(now.body.id, start)
  const previewing = usePreviewing(now.body.id)
  const refusal = saving.error ?? previewing.error
  const { document } = checked
  /** A long text may not be checked yet as it is. */
  const documentNow = (): unknown => (checkable === text ? document : checkedText(text).document)
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault()
        previewing.reset()
        const typed = documentNow()
        if (typed !== undefined) saving.mutate({ document: typed, etag: base.etag })
      }}
    >
      {isOld && (
        <Conflict
          what="it"
          did="typed"
          keep="Keep my text, and save over it"
          drop="Drop my text, and begin with theirs"
          before={base.text}
          after={current.text}
          onKeep={() => {
            setBase(current)
            saving.reset()
          }}
          onTheirs={() => {
            start(current)
            saving.reset()
          }}
        />
      )}
      <CompletingText
        label="Document (YAML)"
        rows={28}
        value={text}
        onChange={setText}
        fault={checked.fault}
        nameable={nameable}
      />
      {refusal !== null && !isOld && <ProblemBox error={atLine(refusal, text)} />}
      <div className={styles.actions}>
        <Button
          isDisabled={!isTouched || document === undefined || isOld}
          isPending={previewing.isPending}
          onPress={() => {
            saving.reset()
            previewing.mutate({ document: documentNow(), etag: base.etag })
          }}
        >
          Preview
        </Button>
        <Button
          type="submit"
          variant="primary"
          isDisabled={!isTouched || document === undefined || isOld}
          isPending={saving.isPending}
        >
          Save
        </Button>
        <Button isDisabled={!isTouched} onPress={() => start(current)}>
          Discard
        </Button>
        {saving.isSuccess && !isTouched && <span className={styles.done}>Saved.</span>}
      </div>
      {previewing.data !== undefined && (
        <PreviewDialog
          preview={previewing.data}
          action="Save"
          onClose={previewing.reset}
          onApply={() => {
            saving.mutate(previewing.variables)
            previewing.reset()
          }}
        />
      )}
    </form>
  )
}

interface Change {
  readonly document: unknown
  readonly etag: string | null
}

function useSaving(id: string, onSaved: (version: Version) => void) {
  const client = useQueryClient()
  const announce = useAnnounce()
  return useMutation({
    mutationFn: ({ document, etag }: Change) => replaceLoadBalancer(id, document, etag),
    onSuccess: async () => {
      const saved = await client.fetchQuery({
        queryKey: keys.loadBalancer(id),
        queryFn: ({ signal }) => readLoadBalancer(id, signal),
        staleTime: 0,
      })
      onSaved(versionOf(saved))
      announce('Saved.')
      await client.invalidateQueries({ queryKey: keys.explanation(id) })
    },
    onError: (error) => readAfterConflict(client, id, error),
  })
}

/** Asks what the change would do. A version that is not the newest is read anew, as when saving. */
function usePreviewing(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ document, etag }: Change) => previewReplacement(id, document, etag),
    onError: (error) => readAfterConflict(client, id, error),
  })
}

/** The server's refusal with the line of the text that it is about. */
function atLine(error: Error, text: string): Error {
  if (!(error instanceof Problem)) return error
  const [field] = error.fields
  const line = field === undefined ? null : lineOfField(text, field)
  return line === null ? error : new Problem(error.status, `Line ${line}: ${error.message}`, error.code, error.fields)
}
