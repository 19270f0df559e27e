import cProfile,pstats,time,sys,warnings; warnings.simplefilter("ignore")
from examples.play_plan import main
pr=cProfile.Profile(); pr.enable(); t=time.process_time(); w=time.perf_counter()
r=main(["table","/tmp/h/pl_pic.png"])
pr.disable(); print("rc",r,"cpu",time.process_time()-t,"clock",time.perf_counter()-w)
pstats.Stats(pr).sort_stats("cumulative").print_stats(45)
