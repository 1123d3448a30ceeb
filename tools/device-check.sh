#!/usr/bin/env bash
# What a machine with a GPU has to show: the device tests, the same under compute-sanitizer, the time of a
# PageRank step, those of SpMV, RWR and HITS beside cuSPARSE, and of making a matrix on the GPU, as JSON.
#
#   tools/device-check.sh                       builds here, writes docs/benchmarks/device-DATE.json
#   tools/device-check.sh BUILD [OUTPUT_FOLDER] takes a build folder that was made elsewhere
#
# In the environment: SCALES="20 22 24" changes the R-MAT graphs (edge factor 16), CHECKS="tests references sanitizers"
# which checks run before the measurements, KERNELS="tile-messages tile-composite csr" the kernels of the PageRank steps.
# FILES="graph.tsv matrix.mtx.gz*16 22w" measures products on these, too (*16: 16 copies side by side; 22w: an R-MAT
# graph with weights). RANKINGS="22" names the graphs of RWR and HITS, PREPARE="22" those whose matrix is made on the
# GPU, from edges and from CSR. FORMATS="power-law unstructured ellpack densities cg batches" repeats comparisons of
# papers (tests/bench/format_bench.cpp; Matrix Market files among the words join in), none when empty.
# A second call adds to the file of the first.
# Exits with 1 when a test or a sanitizer fails; the JSON is written all the same, also when time runs out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -eq 0 ]]; then
  # shellcheck source=tools/build.sh
  . tools/build.sh
  build_preset release
fi
build=${1:-build/release}
output=${2:-docs/benchmarks}
program=$build/bin/tessera
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvidia-smi -L || { echo "device-check.sh: no NVIDIA driver answers here" >&2; exit 5; }
report() {
  mkdir -p "$output"
  python3 -B tools/device_report.py "$work" "$output/device-$(date +%F).json" "$program" "${SCALES-20 22 24}"
}
trap 'report || true; rm -rf "$work"' EXIT
trap 'exit 124' TERM

status=0
# check NAME COMMAND...: runs it, keeps the last lines and whether it passed
check() {
  local name=$1
  shift
  if "$@" >"$work/$name.log" 2>&1; then echo pass >"$work/$name.result"; else echo fail >"$work/$name.result"; fi
  echo "$name: $(cat "$work/$name.result")"
  tail -n 4 "$work/$name.log" | sed 's/^/    /'
}
# in_shards COMMAND...: the tests of a program in parallel processes of two threads, the output of all
in_shards() {
  local shards=$((1 + $(nproc) / 2)) failed=0 jobs=() i
  [[ $shards -le 8 ]] || shards=8
  for ((i = 0; i < shards; i++)); do
    OMP_NUM_THREADS=2 GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i "$@" >"$work/shard-$i.log" 2>&1 &
    jobs+=($!)
  done
  for ((i = 0; i < shards; i++)); do
    wait "${jobs[i]}" || failed=1
    cat "$work/shard-$i.log"
  done
  return "$failed"
}
# All at once: each runs on one core.
sanitize() {
  for tool in memcheck racecheck initcheck; do
    check "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/bin/engine_test" \
      --gtest_filter='DeviceBackend*:DeviceProducts*:DeviceEndingProducts*:DeviceRankRuns*:DevicePairRuns*:DeviceWalkSteps*:DeviceCsr*SeveralVectors*:-*OfLargeMatrices*' &
    check "${tool}_loops" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/bin/algorithms_test" \
      --gtest_filter='DevicePageRank*:DeviceHits*:DeviceWalks*:-*ManyRows*' &
    TESSERA_TEST_WITHOUT_VENDOR=1 check "${tool}_formats" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/bin/engine_test" \
      --gtest_filter='MatrixProducts*:Batches*:-*OfTheReferenceMatrices*' &
    check "${tool}_builds" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/bin/engine_test" \
      --gtest_filter='MessagesBuild*:*MessagesBuildOf*:GraphPreparation*:CsrBuild*:SymmetricRows*:-*ManyCells*:*ManyEdges*:*ManyTiles*' &
    check "${tool}_tiles" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/bin/kernels_test" \
      --gtest_filter='DeviceFormats*:DeviceEdgeSort*ThereOnce*:DeviceEdgeSort*Repeated*:DeviceUnmarkedElements*:GroupSort*:Expansion*:*KeyCounts*:MessagePlaces*:TileDealer*:VertexOrder*:SliceCutter*:BinCells*:BinEdges*:TileStarts*:Reduction*:RunningSums*:MessagesOfRows*:DeviceAscendingSearch*:BuildKernels*:SideStream*:ElementPositions*:PartFiller*:WordFiller*:-*ManyGroups*:*ManyElements*:*KeyCounts*/8:*AsManyMessages*:*OfAllNumbers*:*CutsManySlices*:*OfManyRows*' &
    for graph in karate dolphins ldbc_example_directed; do
      check "${tool}_$graph" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/bin/algorithms_test" \
        --gtest_filter="*ReferenceData*/$graph:-*OnSeveralGpus*" &
    done
  done
  wait
}
for name in ${CHECKS-tests references sanitizers}; do
  case $name in
    tests)
      check device_tests in_shards "$build/bin/engine_test" --gtest_filter='Device*:BackendNames*:MessagesBuild*:*MessagesBuildOf*:GraphPreparation*:CsrBuild*:SymmetricRows*'
      TESSERA_TEST_BACKEND=cuda check format_tests in_shards "$build/bin/engine_test" \
        --gtest_filter='MatrixProducts*:Batches*:ProductComparison*'
      check example_tests "$build/bin/kernels_test" --gtest_filter='Csc*:DeviceFormats*:DevicePeer*:DeviceRunCluster*:DeviceEdgeSort*:DeviceUnmarkedElements*:GroupSort*:Expansion*:*KeyCounts*:MessagePlaces*:TileDealer*:VertexOrder*:SliceCutter*:BinCells*:BinEdges*:TileStarts*:Reduction*:RunningSums*:MessagesOfRows*:DeviceAscendingSearch*:BuildKernels*:SideStream*:DeviceSmallBlocks*:ElementPositions*:PartFiller*:WordFiller*'
      check loop_tests "$build/bin/algorithms_test" --gtest_filter='ConjugateGradients*:DevicePageRank*:DeviceHits*:DeviceWalks*'
      ;;
    references) TESSERA_TEST_BACKEND=cuda check reference_tests in_shards "$build/bin/algorithms_test" --gtest_filter='*ReferenceData*:PeerAnswers*' ;;
    sanitizers) TESSERA_TEST_BACKEND=cuda TESSERA_SMALL_BLOCKS=0 OMP_NUM_THREADS=2 sanitize ;;
    *) echo "device-check.sh: CHECKS: unknown name \"$name\"" >&2; exit 2 ;;
  esac
done

for scale in ${SCALES-20 22 24}; do
  "$program" generate rmat --scale "$scale" --edge-factor 16 --seed 1 -o "$work/g.tsr" --quiet
  for kernel in ${KERNELS:-tile-messages tile-composite csr}; do
    for precision in f32 f64; do
      "$program" pagerank "$work/g.tsr" --backend cuda --kernel "$kernel" --precision "$precision" \
        --iterations 50 --top 1 --quiet --report "$work/run-$scale-$kernel-$precision.json" >/dev/null
    done
  done
done
set -f  # the stars in FILES are no patterns
bench() { # OUTPUT PROGRAM WORDS...: nothing to measure is no failure
  [[ $# -eq 2 ]] || "$build/bin/$2" "${@:3}" >"$work/$1.jsonl" || status=1
}
# shellcheck disable=SC2086  # lists
{
  bench spmv spmv_bench ${SCALES-20 22 24} ${FILES-}
  bench ranking ranking_bench ${RANKINGS-22}
  bench prepare prepare_bench ${PREPARE-22}
  [[ -z ${FORMATS-} ]] || bench formats format_bench --backend cuda $FORMATS
}
set +f
grep -qx fail "$work"/*.result 2>/dev/null && status=1
exit "$status"
