package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const deploy = root + "/testdata/deploy/"

// job is what matters of a Kubernetes Job.
type job struct {
	Kind string
	Spec struct {
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		Template                 template
		JobTemplate              struct{ Spec struct{ Template template } } `yaml:"jobTemplate"`
	}
}

type template struct {
	Spec struct{ Containers []container }
}

type container struct {
	Command, Args []string
	Env           []struct{ Name, Value string }
}

// TestKubernetesJob runs the pods of the manifest as processes, with the
// arguments and the variables that it gives them, and then its merge.
func TestKubernetesJob(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode: runs several processes")
	}
	text, err := os.ReadFile(deploy + "kubernetes-indexed-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var jobs []job
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var j job
		if err := d.Decode(&j); err != nil {
			break
		}
		jobs = append(jobs, j)
	}
	if len(jobs) != 2 || jobs[0].Spec.CompletionMode != "Indexed" || jobs[0].Spec.Completions < 2 || jobs[0].Spec.Completions != jobs[0].Spec.Parallelism {
		t.Fatalf("found %+v, expected an Indexed Job and a merge", jobs)
	}
	data := t.TempDir()
	trace, err := os.ReadFile("testdata/traces/small.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	// The readers of traces tell a packing by its content.
	if err := os.WriteFile(filepath.Join(data, "trace.jsonl.zst"), trace, 0o644); err != nil {
		t.Fatal(err)
	}
	pod := jobs[0].Spec.Template.Spec.Containers[0]
	for i := range jobs[0].Spec.Completions {
		index := strconv.Itoa(i)
		env := append(os.Environ(), "JOB_COMPLETION_INDEX="+index)
		for _, e := range pod.Env {
			if e.Value != "" {
				env = append(env, e.Name+"="+e.Value)
			}
		}
		runPod(t, pod, env, data, func(s string) string {
			return strings.NewReplacer("$(JOB_COMPLETION_INDEX)", index, "=8", "=1", "0:2:0.2", "0:2:1", "0.25,0.5,1,2,4,8", "1,4").Replace(s)
		})
	}
	runPod(t, jobs[1].Spec.JobTemplate.Spec.Template.Spec.Containers[0], os.Environ(), data, func(s string) string { return s })
	if _, err := os.Stat(filepath.Join(data, "out", reportFile)); err != nil {
		t.Error(err)
	}
}

func runPod(t *testing.T, c container, env []string, data string, change func(string) string) {
	t.Helper()
	if len(c.Command) != 1 || c.Command[0] != "routesim" {
		t.Fatalf("the command is %v", c.Command)
	}
	var args []string
	for _, a := range c.Args {
		args = append(args, strings.ReplaceAll(change(a), "/data/", data+"/"))
	}
	cmd := process(t, args...)
	cmd.Env = env
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, output)
	}
}

// TestSlurmArray runs the script as two tasks of an array.
func TestSlurmArray(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode: runs several processes")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, out := t.TempDir(), t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "routesim")); err != nil {
		t.Skip(err)
	}
	trace, err := filepath.Abs("testdata/traces/small.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	task := func(more ...string) ([]byte, error) {
		cmd := exec.Command(shell, deploy+"slurm-array.sh", "--vary=router-temperature=0,1", "--seeds=1", "--no-env")
		cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TRACE="+trace, "OUT="+out), more...)
		return cmd.CombinedOutput()
	}
	for i := range 2 {
		if output, err := task(fmt.Sprint("SLURM_ARRAY_TASK_ID=", i), "SLURM_ARRAY_TASK_COUNT=2", "SLURM_CPUS_PER_TASK=1"); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	if output, err := task("SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_COUNT=1", "SHARDS=2"); err != nil || !strings.Contains(string(output), "of them before") {
		t.Fatalf("a task again: %v: %s", err, output)
	}
	if output, err := task("SLURM_ARRAY_TASK_COUNT=2"); err == nil || !strings.Contains(string(output), "is set in a Slurm array") {
		t.Errorf("outside an array: %v: %s", err, output)
	}
	if output, err := process(t, "sweep", "merge", filepath.Join(out, "part-0"), filepath.Join(out, "part-1"), "-o", filepath.Join(out, "merged")).CombinedOutput(); err != nil {
		t.Fatalf("merge: %v: %s", err, output)
	}
}
