# The npm package in an empty project: what is in it, its declarations, a turn. BESIDE
source .ci/lib.sh
new_consumer
package=$consumer/node_modules/turncore

echo 'the package holds what it exports, and no dependency'
for file in README.md dist/index.js dist/index.d.ts dist/turncore.min.js dist/turncore.wasm dist/turncore-full.wasm dist/turncore-js.wasm LICENSE; do
  [[ -f $package/$file ]] || fail "the package lacks $file"
done
others=$(cd "$consumer/node_modules" && find . -mindepth 1 -maxdepth 1 ! -name turncore ! -name '.*')
[[ -z $others ]] || fail "the package brings dependencies: $others"
tests_ran 1

echo 'its manifest is right for every platform, and its types for bundlers, node16 and nodenext'
(cd js && node_modules/.bin/publint --strict "$package")
tests_ran 1
types=$(cd js && node_modules/.bin/attw --profile esm-only --format ascii "$consumer"/turncore-*.tgz) || fail "$types"
tests_ran 1

echo 'every entry point can be imported'
cat >"$consumer/entries.mjs" <<'END'
import { createRequire } from 'node:module';
const { exports } = createRequire(import.meta.url)('turncore/package.json');
const entries = Object.keys(exports).filter((path) => exports[path].default?.endsWith('.js'));
for (const path of entries) await import(`turncore${path.slice(1)}`);
if (entries.length < 10) throw new Error(entries.join(' '));
END
(cd "$consumer" && node entries.mjs)
tests_ran 1

echo 'no declaration says any'
node .ci/consumer/find-any.mjs "$package/dist" || fail 'found any in a declaration'
tests_ran 1

echo 'a program compiles against the declarations, without the types of Node'
cp .ci/consumer/turn.mts "$consumer"
compile_consumer turn.mts
tests_ran 1

echo 'a Worker that imports a module compiles'
cp .ci/consumer/worker.mts "$consumer"
compile_consumer --noEmit worker.mts
tests_ran 1

echo 'it runs a turn'
(cd "$consumer" && node turn.mjs)
tests_ran 1

echo 'a bundle without what is not used does the same'
cp .ci/consumer/bundled.mjs "$consumer"
bundle() { js/node_modules/.bin/esbuild "$consumer/bundled.mjs" --bundle --format=esm --platform=node --log-level=warning "$@"; }
bundle --outfile="$consumer/bundle.mjs"
bundle --minify --splitting --outdir="$consumer/split" --out-extension:.js=.mjs
whole=$(node "$consumer/bundled.mjs" "$package/dist/turncore.wasm")
[[ $whole == *'"days":1'*E_INVALID_TOOL_ARGS* ]] || fail "the package says $whole"
for program in bundle.mjs split/bundled.mjs; do
  told=$(node "$consumer/$program" "$package/dist/turncore.wasm")
  [[ $told == "$whole" ]] || fail "$program says $told"
  tests_ran 1
done

echo 'a page downloads no more of it than it may'
node .ci/consumer/sizes.mjs "$package"
tests_ran 3

echo 'the files for Node are ASCII and have no comments, which V8 would keep'
# grep finds nothing: it ends with 1
found=0
grep -lP '[^\x00-\x7F]|^\s*/\*\*|^\s*// ' "$package"/dist/*.node.js "$package"/dist/stores/*.node.js || found=$?
((found == 1)) || fail 'the files above have comments or more than ASCII'
tests_ran 1

echo 'npx turncore runs a turn'
end=$(cd "$consumer" && npx --no-install turncore run --json hello | tail -n 1)
[[ $end == *'"status":"ack"'* ]] || fail "the turn ended with $end"
tests_ran 1
