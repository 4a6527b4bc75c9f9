/**
 * Files in the origin private file system of a browser (OPFS), for the bytes of contents.
 */
import { failure } from './faults.js';
import type { Files } from './contents.js';

/** From how many bytes on contents get files: a row of a database costs less than a file. */
const LEAST = 2 ** 16;
/** The folder of all databases. */
const FOLDER = 'turncore';
/** The longest name of a folder; file systems take 255 bytes. */
const LONGEST = 200;

/** What is used of a file, beside what each browser has. */
interface FileHandle {
  getFile(): Promise<Blob>;
  createWritable?(): Promise<FileSystemWritableFileStream>;
  /** Dedicated workers have it. */
  createSyncAccessHandle?(): Promise<SyncAccessHandle>;
}

interface SyncAccessHandle {
  write(bytes: Uint8Array, options: { readonly at: number }): number;
  flush(): void;
  close(): void;
}

/** A class, as which a browser has it. */
interface Type {
  readonly prototype: object;
}

/** What is used of a folder. */
interface Folder {
  getDirectoryHandle(name: string, options?: { readonly create: boolean }): Promise<Folder>;
  getFileHandle(name: string, options?: { readonly create: boolean }): Promise<FileHandle>;
  removeEntry(name: string): Promise<void>;
  keys(): AsyncIterable<string>;
}

/** The files of a database, each by the number of its content. */
export class OriginFiles implements Files {
  readonly #path: readonly string[];
  readonly #write: boolean;

  /**
   * @param database its name
   * @param write whether contents get files; those that have one are read in any case
   */
  constructor(database: string, write: boolean) {
    this.#path = pathOf(database);
    this.#write = write;
  }

  /** From how many bytes on contents get files; undefined where the browser gives this page no files to write. */
  async least(): Promise<number | undefined> {
    if (!this.#write) return undefined;
    const { FileSystemFileHandle: of } = globalThis as unknown as { FileSystemFileHandle?: Type };
    const can = (name: string): boolean => of !== undefined && name in of.prototype;
    // Some versions of Safari have the one in workers, and pages cannot write.
    if (!can('createWritable') && !can('createSyncAccessHandle')) return undefined;
    // Some private windows refuse it.
    return this.#folder(true).then(
      () => LEAST,
      () => undefined,
    );
  }

  /** Writes the file of a content. It is whole and on the disk when that returns. */
  async write(session: string, content: number, parts: AsyncIterable<Uint8Array>): Promise<void> {
    const file = await this.#try(session, async () => {
      const folder = await this.#folder(true);
      const handle = await folder.getFileHandle(String(content), { create: true });
      return handle.createSyncAccessHandle === undefined ? openStream(handle) : openSync(handle);
    });
    try {
      for await (const part of parts) await this.#try(session, () => file.write(part));
    } catch (error) {
      await file.abandon().catch(() => undefined);
      throw error;
    }
    await this.#try(session, () => file.finish());
  }

  /** Bytes of the file of a content: fewer if it is shorter, undefined if there is none. */
  async read(
    session: string,
    content: number,
    from: number,
    to: number,
  ): Promise<Uint8Array | undefined> {
    return this.#try(session, async () => {
      try {
        const handle = await (await this.#folder()).getFileHandle(String(content));
        return new Uint8Array(await (await handle.getFile()).slice(from, to).arrayBuffer());
      } catch (error) {
        // One that is deleted while it is read is no longer readable.
        if (['NotFoundError', 'NotReadableError'].includes((error as Error).name)) return undefined;
        throw error;
      }
    });
  }

  /** Deletes the file of a content, if there is one. What it cannot delete is left for later. */
  async drop(content: number): Promise<void> {
    await this.#drop(String(content));
  }

  /**
   * Deletes files of which no content is known.
   *
   * @param known of those numbers, the contents that are there
   * @returns how many were deleted
   */
  async collect(known: (contents: readonly number[]) => Promise<Set<number>>): Promise<number> {
    let folder: Folder;
    try {
      folder = await this.#folder();
    } catch {
      return 0; // there is none
    }
    const names = new Map<string, number>();
    for await (const name of folder.keys()) {
      // A browser that was killed may leave a copy whose name begins with the file's.
      const content = parseInt(name, 10);
      if (!Number.isNaN(content)) names.set(name, content);
    }
    // A content is known before it has a file.
    const there = await known([...new Set(names.values())]);
    let deleted = 0;
    for (const [name, content] of names) {
      if (!there.has(content) && (await this.#drop(name))) deleted++;
    }
    return deleted;
  }

  async #drop(name: string): Promise<boolean> {
    try {
      await (await this.#folder()).removeEntry(name);
      return true;
    } catch {
      return false;
    }
  }

  /** The folder of the database. It may be deleted at any time, so nobody keeps it. */
  async #folder(create = false): Promise<Folder> {
    const { storage } = navigator as { readonly storage?: { getDirectory?(): Promise<unknown> } };
    if (storage?.getDirectory === undefined) throw new DOMException('', 'NotSupportedError');
    let folder = (await storage.getDirectory()) as Folder;
    for (const name of this.#path) folder = await folder.getDirectoryHandle(name, { create });
    return folder;
  }

  /** @throws TurncoreError E_STORE_FAILED that names the session */
  async #try<T>(session: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw failure(session, error, REASONS[(error as Partial<Error> | undefined)?.name ?? '']);
    }
  }
}

/** A file that is being written. */
interface Writing {
  write(part: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** Writes through a stream: the file changes when it is closed. */
async function openStream(handle: FileHandle): Promise<Writing> {
  const stream = await handle.createWritable!();
  return {
    write: (part) => stream.write(part as Uint8Array<ArrayBuffer>),
    finish: () => stream.close(),
    abandon: () => stream.abort(),
  };
}

/** Writes at once, and waits for the disk in the end. */
async function openSync(handle: FileHandle): Promise<Writing> {
  const access = await handle.createSyncAccessHandle!();
  let at = 0;
  return {
    async write(part) {
      const written = access.write(part, { at });
      if (written !== part.length) throw new DOMException('', 'QuotaExceededError');
      at += written;
    },
    async finish() {
      access.flush();
      access.close();
    },
    async abandon() {
      access.close();
    },
  };
}

/** The folders of a database: other names give others, also where upper and lower case are one. */
function pathOf(database: string): string[] {
  const escape = (unit: string): string => `_${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const name = Array.from({ length: database.length }, (_, i) => database[i]!)
    .map((unit) => (/[a-z0-9-]/.test(unit) ? unit : escape(unit)))
    .join('');
  const folders: string[] = [];
  for (let at = 0; at < name.length; at += LONGEST) folders.push(name.slice(at, at + LONGEST));
  return [FOLDER, ...folders];
}

/** What errors of the file system mean, by their names. */
const REASONS: Readonly<Record<string, string>> = {
  QuotaExceededError: 'the browser gives it no more space',
  NotSupportedError: 'its bytes are in files, of which this platform has none',
  SecurityError: 'its bytes are in files, which the browser refuses to this page',
  NotFoundError: 'the browser has deleted its files',
  NoModificationAllowedError: 'another page or worker has its file open',
};
